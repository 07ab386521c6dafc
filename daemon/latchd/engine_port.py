"""What the rim needs of an engine, and nothing more: the seam that tests put a small engine into.

All of it is plain synchronous code, called from the trio thread by one caller at a time; only
``checkpoint`` may run in a thread beside the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from latch_contracts.records import Record
from latch_contracts.wire import Allow, Allowed, CallView, HookReply, HookRequest, SessionList, SessionView
from latchd.policy import Policy
from latchd.rules.generation import Generation


class Handled(Protocol):
    """The reply to write, and the records that are durable already, in order."""

    @property
    def reply(self) -> HookReply: ...

    @property
    def records(self) -> list[Record]: ...


class Leave(Protocol):
    """What became of a code, and the records of it that are durable already."""

    @property
    def answer(self) -> Allowed: ...

    @property
    def records(self) -> list[Record]: ...


class Journal(Protocol):
    """Where what happens outside of any hook call is written down."""

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]: ...

    def gap(self, what: str, *, count: int, detail: str) -> list[Record]: ...


class Expiry(Journal, Protocol):
    """What the scheduler drives."""

    def expire(self) -> list[Record]: ...

    def next_deadline_ms(self) -> int | None:
        """Milliseconds from now until ``expire`` has work; 0 = overdue, None = nothing waits."""
        ...

    @property
    def log_bytes(self) -> int:
        """How much of the write-ahead log waits for a checkpoint, as of the last commit."""
        ...

    def make_room(self) -> None:
        """Before anything is judged: whatever makes the first commits as quick as later ones."""
        ...

    def checkpoint(self) -> None: ...

    def verify(self) -> list[Record]: ...


class Engine(Expiry, Protocol):
    """All that the daemon asks."""

    token: str | None

    @property
    def policy(self) -> Policy: ...

    @property
    def counters(self) -> Mapping[str, int]: ...

    @property
    def degraded(self) -> dict[str, str]:
        """What a person should know, by its cause; empty is health. Whoever learns of a cause writes it."""
        ...

    @property
    def rules(self) -> Generation: ...

    @property
    def health_word(self) -> str: ...

    def handle(self, request: HookRequest) -> Handled: ...

    def allow(self, request: Allow) -> Leave: ...

    def adopt(self, policy: Policy, rules: Generation | None = None) -> None: ...

    def health(self, health: str, note: str) -> list[Record]: ...

    def lifecycle(self, note: str) -> list[Record]: ...

    def records_after(self, seq: int, limit: int) -> list[Record]: ...

    def with_codes(self, records: Sequence[Record]) -> list[Record]:
        """The same records; each refusal that a person may lift now, with its code."""
        ...

    def newest_seq(self) -> int: ...

    def show(self, call_id: str) -> CallView: ...

    def sessions(self, limit: int) -> SessionList: ...

    def session(self, name: str, limit: int) -> SessionView: ...

    def close(self) -> None: ...
