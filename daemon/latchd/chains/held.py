"""Which files of a session hold secrets, by keyed digests alone: a set, and what a proven call does to it.

Pure. A call's changes are written down as digests when it is proposed and applied when its success is
proven, against what the session holds by then.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

import msgspec

from latchd.chains.catalogue import Step
from latchd.chains.content import MAX_PATHS, Flows, Source
from latchd.windows import Instant, age_ms

WINDOW_MS: Final = 30 * 60_000  # as long as the chains that end in egress
MOST: Final = 256  # files of one session; the oldest gives way
_DIRECTORIES: Final = 8  # the deepest that a file lies in are remembered
_DIGEST: Final = 32

Key = Callable[[str], bytes]  # the keyed digest of a path, in this session


class Held(msgspec.Struct, frozen=True):
    """One file that holds what came from a secret. ``above``: the digests of the directories it lies in."""

    path: bytes
    above: bytes
    origin: Step
    seq: int
    at: Instant

    def is_in(self, directory: bytes) -> bool:
        return any(
            self.above[start : start + _DIGEST] == directory for start in range(0, len(self.above), _DIGEST)
        )


class Change(msgspec.Struct, frozen=True, array_like=True):
    """One of a call's changes. ``sources``: a path, and whether all below it is meant."""

    path: bytes
    above: bytes
    origin: int
    recursive: bool
    sources: list[tuple[bytes, bool]]


class Carried(msgspec.Struct, frozen=True):
    """A file that a proposal sends out and that holds a secret. ``seq``: of the result that proved it."""

    path: str
    origin: Step
    seq: int
    at: Instant


_encoder: Final = msgspec.msgpack.Encoder()
_decoder: Final = msgspec.msgpack.Decoder(list[Change])


def written(flows: Flows, key: Key) -> bytes:
    """A call's changes without a path in them, b"" for none; at most MAX_PATHS digests of sources."""
    changes: list[Change] = []
    room = MAX_PATHS
    for change in flows.changes:
        sources = sorted(change.content.sources, key=lambda source: source.path)[:room]
        room -= len(sources)
        changes.append(
            Change(
                key(change.path),
                b"".join(map(key, _directories(change.path))),
                change.content.origin,
                change.recursive,
                [(key(source.path), source.recursive) for source in sources],
            )
        )
    return _encoder.encode(changes) if changes else b""


def read(blob: bytes) -> list[Change]:
    """What :func:`written` wrote. One that can't be read changes nothing."""
    try:
        return _decoder.decode(blob) if blob else []
    except msgspec.DecodeError:
        return []


def recent(held: Iterable[Held], now: Instant) -> list[Held]:
    """Those inside the window. An age that can't be counts as none: setting a clock erases no proof."""
    return [one for one in held if (age := age_ms(one.at, now)) is None or age <= WINDOW_MS]


def after(
    changes: Sequence[Change], held: Sequence[Held], seq: int, now: Instant
) -> tuple[list[Held], list[bytes]]:
    """What is held anew and what no longer, once a call with these changes has succeeded as ``seq``.

    All its changes count at once, against what was held before it.
    """
    kept: list[Held] = []
    gone: list[bytes] = []
    for change in changes:
        origin = Step(change.origin)
        for path, recursive in change.sources:
            for one in held:
                if one.path == path or (recursive and one.is_in(path)):
                    origin |= one.origin
        if origin:
            kept.append(Held(change.path, change.above, origin, seq, now))
        else:
            gone.append(change.path)
            if change.recursive:
                gone += [one.path for one in held if one.is_in(change.path)]
    anew = {one.path for one in kept}
    return kept, [path for path in gone if path not in anew]


def carried(sent: Iterable[Source], held: Sequence[Held], key: Key) -> tuple[Carried, ...]:
    """What of it is held: the files that go out, the earliest proof first."""
    return tuple(sorted(_carried(sent, held, key), key=lambda one: (one.seq, one.path)))


def _carried(sent: Iterable[Source], held: Sequence[Held], key: Key) -> Iterator[Carried]:
    for source in sent:
        path = key(source.path)
        for one in held:
            if one.path == path or (source.recursive and one.is_in(path)):
                yield Carried(source.path, one.origin, one.seq, one.at)


def _directories(path: str) -> Iterator[str]:
    """The directories above a path, deepest first, without the root."""
    for _ in range(_DIRECTORIES):
        path = posixpath.dirname(path)
        if path in ("", "/"):
            return
        yield path
