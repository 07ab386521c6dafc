"""What files are made of, as values: what one call puts where, and what of it leaves.

Paths are in clear here and nowhere stored so.
"""

from __future__ import annotations

from typing import Final

import msgspec

from latchd.chains.catalogue import NOTHING, Step

MAX_PATHS: Final = 16  # that one call assigns, and that one path is made of


class Source(msgspec.Struct, frozen=True):
    """What a path held before the call. ``recursive``: and all below it."""

    path: str
    recursive: bool = False


class Content(msgspec.Struct, frozen=True):
    """What something is made of: secrets read in this call (first steps), and what paths held before it."""

    origin: Step = NOTHING
    sources: frozenset[Source] = frozenset()

    def __or__(self, other: Content) -> Content:
        return Content(self.origin | other.origin, self.sources | other.sources)

    def __bool__(self) -> bool:
        return bool(self.origin or self.sources)


EMPTY: Final = Content()


class Change(msgspec.Struct, frozen=True):
    """After the call ``path`` holds ``content``; ``recursive``: and nothing below it is what it was."""

    path: str
    content: Content
    recursive: bool = False


class Flows(msgspec.Struct, frozen=True):
    """One call's part in it. ``sent`` are the paths whose former content it sends out."""

    changes: tuple[Change, ...] = ()
    sent: frozenset[Source] = frozenset()
    exact: bool = False  # what is sent may refuse: the facts are whole, and all of it acts

    @property
    def origin(self) -> Step:
        """The secrets that it puts into files."""
        found = NOTHING
        for change in self.changes:
            found |= change.content.origin
        return found

    def joined(self, inner: Flows, *, sure: bool) -> Flows:
        """With those of a script the call runs; one that is not sure to run changes nothing for certain."""
        parts = [
            exact for sent, exact in ((self.sent, self.exact), (inner.sent, sure and inner.exact)) if sent
        ]
        return Flows(
            (*self.changes, *(inner.changes if sure else ()))[:MAX_PATHS],
            self.sent | inner.sent,
            all(parts) and bool(parts),
        )


NO_FLOWS: Final = Flows()
