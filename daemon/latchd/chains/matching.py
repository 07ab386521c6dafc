"""Which chains a proposal completes, given what the session has proven: pure, earliest predecessor first."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from latchd.chains.catalogue import CHAINS, Chain, Step
from latchd.chains.projection import Projection
from latchd.windows import Instant, age_ms


class Past(msgspec.Struct, frozen=True):
    """One chain-relevant event of the session, committed. ``seq`` orders; the clocks only measure."""

    seq: int
    detection: Step
    enforcement: Step
    at: Instant


class Match(msgspec.Struct, frozen=True):
    """A completed chain. ``seen`` is the earliest predecessor; ``exact`` the earliest that may enforce."""

    chain: Chain
    seen: int
    exact: int | None

    @property
    def enforces(self) -> bool:
        return self.chain.blocks and self.exact is not None


def match(history: Sequence[Past], final: Projection, now: Instant) -> tuple[Match, ...]:
    """Every chain whose second step this proposal is and whose first one lies in its window.

    ``history`` is the session's committed chain events in order, oldest first, without the final one.

    INVARIANT (detection is no enforcement): a predecessor or a proposal that was only detected can
    complete a chain for telling, never for blocking.
    """
    found: list[Match] = []
    for chain in CHAINS:
        if chain.dormant or not final.detection & chain.second:
            continue
        # The final event counts: with it, the window holds chain.events events.
        window = [
            past for past in history[-(chain.events - 1) :] if _is_recent(past.at, now, chain.window_ms)
        ]
        seen = next((past.seq for past in window if past.detection & chain.first), None)
        if seen is None:
            continue
        exact = None
        if final.enforcement & chain.second:
            exact = next((past.seq for past in window if past.enforcement & chain.first), None)
        found.append(Match(chain, seen, exact))
    return tuple(found)


def _is_recent(then: Instant, now: Instant, window_ms: int) -> bool:
    """Inside the window. An age that can't be counts as none: setting a clock must not erase history."""
    age = age_ms(then, now)
    return age is None or age <= window_ms
