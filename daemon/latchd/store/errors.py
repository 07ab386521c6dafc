"""What the store can fail with. Each text is one line for a person."""

from __future__ import annotations


class StoreError(Exception):
    """The store could not do it. Nothing of the transaction is kept; the text is one line for a person."""


class StoreUnusable(StoreError):
    """The file can't be opened as ours (newer schema, foreign database, read-only place). Do not start."""


class StoreDamaged(StoreUnusable):
    """What is there is no sound database. Whoever writes moves it aside; a reader is told."""
