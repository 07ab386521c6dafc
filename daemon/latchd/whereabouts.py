"""Where open calls were proposed, for their results: an agent may have moved on by the time one comes.

Kept in memory alone, because state tables hold no path. What is not known, after a restart or over the
bound, is taken to be where the result comes from; at worst its call then promotes nothing.
"""

from __future__ import annotations

from typing import Final

_KEPT: Final = 4096  # calls; of the oldest nobody waits any more


class Whereabouts:
    """The working directory of each call by the digests of its session and of itself, the newest of many."""

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[tuple[bytes, bytes], str] = {}

    def proposed(self, session: bytes, call: bytes, cwd: str) -> None:
        if not call:
            return
        self._places.setdefault((session, call), cwd)  # the first proposal is the one a row is opened for
        if len(self._places) > _KEPT:
            del self._places[next(iter(self._places))]

    def take(self, session: bytes, call: bytes, otherwise: str) -> str:
        """Where the call was proposed, asked once: a call has one result."""
        return self._places.pop((session, call), otherwise)
