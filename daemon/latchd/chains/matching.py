"""Which chains a proposal completes, given what the session has proven: pure, earliest predecessor first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from latchd.chains.catalogue import CHAINS, Chain, Step
from latchd.chains.held import Carried
from latchd.chains.projection import Projection
from latchd.windows import Instant, age_ms


class Past(msgspec.Struct, frozen=True):
    """One chain-relevant event of the session, committed. ``seq`` orders; the clocks only measure."""

    seq: int
    detection: Step
    enforcement: Step
    at: Instant


class Match(msgspec.Struct, frozen=True):
    """A completed chain. ``seen`` is the earliest predecessor; ``exact`` the earliest that may enforce.

    ``flow``: the file that carries the one step's data into the other, where that is proven.
    """

    chain: Chain
    seen: int
    exact: int | None
    flow: Carried | None = None

    @property
    def enforces(self) -> bool:
        return self.flow is not None or (self.chain.blocks and self.exact is not None)


def match(
    history: Sequence[Past], final: Projection, now: Instant, carried: Sequence[Carried] = ()
) -> tuple[Match, ...]:
    """Every chain whose second step this proposal is and whose first one lies in its window.

    ``history`` is the session's committed chain events in order, oldest first, without the final one;
    ``carried`` are the files with secrets that the final one sends out, earliest first.

    INVARIANT (detection is no enforcement): a predecessor or a proposal that was only detected can
    complete a chain for telling, never for blocking. Closeness in time proves no flow; a file does.
    """
    found: list[Match] = []
    for chain in CHAINS:
        flow = _flow(chain, carried, now)
        if chain.dormant or not (final.detection & chain.second or flow):
            continue
        # The final event counts: with it, the window holds chain.events events.
        window = [
            past for past in history[-(chain.events - 1) :] if _is_recent(past.at, now, chain.window_ms)
        ]
        seen = next((past.seq for past in window if past.detection & chain.first), None)
        if flow is not None:
            seen = flow.seq if seen is None else min(seen, flow.seq)
        if seen is None:
            continue
        exact = None
        if final.enforcement & chain.second:
            exact = next((past.seq for past in window if past.enforcement & chain.first), None)
        found.append(Match(chain, seen, exact, flow if final.flows.exact else None))
    return tuple(found)


class Begun(msgspec.Struct, frozen=True):
    """A chain whose first step lies in its window. ``events_left``: how many more may come before it ends."""

    chain: Chain
    past: Past
    exact: bool
    events_left: int


def progress(history: Sequence[Past], now: Instant) -> Iterator[Begun]:
    """How far each chain has come: what :func:`match` would find, were the next call its second step."""
    for chain in CHAINS:
        first = len(history) - (chain.events - 1)
        for index, past in enumerate(history):
            if index >= first and past.detection & chain.first and _is_recent(past.at, now, chain.window_ms):
                yield Begun(chain, past, bool(past.enforcement & chain.first), index - first)
                break


def _flow(chain: Chain, carried: Sequence[Carried], now: Instant) -> Carried | None:
    """The earliest file that carries what this chain's first step took to where its second one sends it."""
    if chain.second is not Step.EGRESS:
        return None
    return next(
        (one for one in carried if one.origin & chain.first and _is_recent(one.at, now, chain.window_ms)),
        None,
    )


def _is_recent(then: Instant, now: Instant, window_ms: int) -> bool:
    """Inside the window. An age that can't be counts as none: setting a clock must not erase history."""
    age = age_ms(then, now)
    return age is None or age <= window_ms
