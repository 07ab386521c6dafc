"""Who may connect, and how many at once."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable
from typing import Final

import trio

# What the kernel shows for a user that has no number in our user namespace: it may be anyone.
OVERFLOW_UID: Final = 65534
_CREDENTIALS: Final = struct.Struct("iII")  # pid, uid, gid; pid is 0 for a process we can't see


def uid_of(stream: trio.SocketStream) -> int:
    """The user who connected, as the kernel recorded it then."""
    raw = stream.socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    _, uid, _ = _CREDENTIALS.unpack(raw)
    return int(uid)


def refusal(uid: int, own: int) -> str:
    """Why this user is turned away, "" when it is ours. Root is another user too: it needs no socket."""
    if uid == OVERFLOW_UID:
        return "a process of a user without a number here connected"
    return "" if uid == own else f"a process of user {uid} connected"


class Slotted(trio.abc.Listener[trio.SocketStream]):
    """Accepts only while a slot is free; whoever serves a connection gives its slot back.

    ``crowded`` is called when somebody waits at the door while none is: once for each.
    """

    def __init__(
        self,
        listener: trio.SocketListener,
        slots: trio.Semaphore,
        crowded: Callable[[], None] = lambda: None,
    ) -> None:
        self._listener = listener
        self._slots = slots
        self._crowded = crowded

    async def accept(self) -> trio.SocketStream:
        if self._slots.value == 0:
            await trio.lowlevel.wait_readable(self._listener.socket)
            if self._slots.value == 0:
                self._crowded()
        if self._slots.value == 0:
            await self._slots.acquire()
        else:
            self._slots.acquire_nowait()  # the listener's own wait is checkpoint enough
        try:
            return await self._listener.accept()
        except BaseException:
            self._slots.release()
            raise

    async def aclose(self) -> None:
        await self._listener.aclose()
