"""Asks what can hang without hanging: in a thread of its own, waited for a moment, never twice at once.

A thread that got no answer can't be ended, so there is at most one for each mount; while it waits,
whoever asks of that mount is told at once. Everything else is asked right here: a thread costs more
than the question.
"""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterable
from queue import Empty, SimpleQueue
from typing import Final, TypeVar

from latchd.mounts import met, slow_mounts

SECONDS: Final = 0.3  # an agent waits two; every other agent waits as well, once for each mount that hangs
_TABLE: Final = "/proc/self/mountinfo"

T = TypeVar("T")


class Unanswered(Exception):
    """A mount did not answer in time; the text names it."""


class Table:
    """The mounts of this process that can hang, read again when the kernel says that there are others."""

    def __init__(self, path: str = _TABLE) -> None:
        self._mounts: tuple[str, ...] = ()
        self._file: int | None = None
        self._changes = select.poll()
        try:
            self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return  # no such system: then it has no such mounts that could be known
        self._changes.register(self._file, select.POLLPRI)
        self._read(self._file)

    def mounts(self) -> tuple[str, ...]:
        if self._file is not None and self._changes.poll(0):
            self._read(self._file)
        return self._mounts

    def _read(self, file: int) -> None:
        os.lseek(file, 0, os.SEEK_SET)
        parts: list[bytes] = []
        while part := os.read(file, 1 << 16):
            parts.append(part)
        self._mounts = slow_mounts(b"".join(parts))


class Hanging:
    """Asks of paths. ``mounts`` tells which mounts can hang now."""

    def __init__(self, mounts: Callable[[], tuple[str, ...]], *, seconds: float = SECONDS) -> None:
        self._mounts = mounts
        self.seconds = seconds
        self._waiting: dict[str, threading.Thread] = {}

    def can(self) -> bool:
        """Whether there is any mount that can hang."""
        return bool(self._mounts())

    def met(self, path: str) -> str:
        """The mount that can hang and that asking of this path meets, "" for none."""
        return met(path, self._mounts(), os.readlink)

    def ask(self, paths: Iterable[str], work: Callable[[], T]) -> T:
        """What ``work`` gives, which asks the disk of these paths. Raises Unanswered, and what it raises."""
        mounts = self._mounts()
        if not mounts:
            return work()
        mount = next((found for path in paths if (found := met(path, mounts, os.readlink))), "")
        return self.ask_mount(mount, work) if mount else work()

    def ask_mount(self, mount: str, work: Callable[[], T]) -> T:
        waiting = self._waiting.get(mount)
        if waiting is not None and waiting.is_alive():
            raise Unanswered(f"`{mount}` still does not answer")
        answers: SimpleQueue[tuple[T | None, Exception | None]] = SimpleQueue()

        def run() -> None:
            try:
                answers.put((work(), None))
            except Exception as error:
                answers.put((None, error))

        thread = threading.Thread(target=run, name=f"latchd asks {mount}", daemon=True)
        thread.start()
        try:
            answer, error = answers.get(timeout=self.seconds)
        except Empty:
            self._waiting[mount] = thread
            raise Unanswered(f"`{mount}` did not answer within {self.seconds:g} s") from None
        self._waiting.pop(mount, None)
        if error is not None:
            raise error
        return answer  # type: ignore[return-value]  # no error: it is what work gave
