"""A bell that one task waits for and anyone may ring: rings before the wait are not lost, nor counted."""

from __future__ import annotations

import trio


class Bell:
    def __init__(self) -> None:
        self._rung = trio.Event()

    def ring(self) -> None:
        self._rung.set()

    async def wait(self) -> None:
        """Return at the next ring, or at once after one that nobody has waited for."""
        await self._rung.wait()
        self._rung = trio.Event()
