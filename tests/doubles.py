"""Small fakes for what the rim stands on: a clock that is trio's own, and an engine without a guard."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import count

import msgspec
import trio

from latch_contracts.records import (
    AllowanceRecord,
    ExpiryRecord,
    FaultRecord,
    GapRecord,
    HealthRecord,
    LifecycleRecord,
    Record,
    VerdictRecord,
)
from latch_contracts.verdict import Action
from latch_contracts.wire import (
    VERSION,
    Allow,
    Allowed,
    CallView,
    HookReply,
    HookRequest,
    SessionList,
    SessionView,
)
from latchd.policy import Policy
from latchd.rules.bundled import released
from latchd.rules.generation import Generation

EPOCH_MS = 1_700_000_000_000


class TrioClock:
    """Implements latchd.clock.Clock on trio's: one autojump moves sleeps and windows together."""

    def wall_ms(self) -> int:
        return EPOCH_MS + round(trio.current_time() * 1000)

    def boot_id(self) -> bytes:
        return bytes(16)

    def boot_ns(self) -> int:
        return round(trio.current_time() * 1_000_000_000)

    def monotonic_us(self) -> int:
        return round(trio.current_time() * 1_000_000)

    def worked_us(self) -> int:
        return 0


def counting_ids(prefix: str = "id") -> Iterator[str]:
    """id-1, id-2, …"""
    return (f"{prefix}-{number}" for number in count(1))


class FakeHandled(msgspec.Struct, frozen=True):
    reply: HookReply
    records: list[Record]


class FakeLeave(msgspec.Struct, frozen=True):
    answer: Allowed
    records: list[Record]


class FakeEngine:
    """Implements latchd.engine_port.Engine in memory. A payload is answered with itself on stdout.

    ``deadlines`` are trio times at which a pending call is over; ``raising`` is raised by the next
    ``handle``; what is in ``lost`` was never written down by ``fault``, ``gap`` and their like.
    """

    def __init__(self, policy: Policy | None = None) -> None:
        self.policy = policy or Policy()
        self.rules: Generation = released()
        self.counters: Counter[str] = Counter()
        self.degraded: dict[str, str] = {}
        self.token: str | None = None
        self.log: list[Record] = []
        self.deadlines: list[float] = []
        self.raising: Exception | None = None
        self.store_is_full = False
        self.checkpoints: list[float] = []
        self.log_bytes = 0
        self.rooms = 0
        self.verified: list[float] = []
        self._newest = 0

    @property
    def health_word(self) -> str:
        return "degraded" if self.degraded else "ok"

    def handle(self, request: HookRequest) -> FakeHandled:
        if self.raising is not None:
            error, self.raising = self.raising, None
            raise error
        self.counters["requests"] += 1
        records = self._append(
            VerdictRecord(connector=request.connector, action=Action.ALLOW, call=request.payload.decode())
        )
        return FakeHandled(HookReply(VERSION, 0, request.payload, b""), records)

    def allow(self, request: Allow) -> FakeLeave:
        """Any code but the empty one is good."""
        if not request.code:
            return FakeLeave(Allowed(VERSION, "no such code"), [])
        records = self._append(AllowanceRecord(rule="r", refused=1, until_ms=2, head=request.code))
        (record,) = records
        assert isinstance(record, AllowanceRecord)
        return FakeLeave(Allowed(VERSION, "allowed", record), records)

    def adopt(self, policy: Policy, rules: Generation | None = None) -> None:
        self.policy = policy
        self.rules = rules or self.rules

    def fault(self, code: str, detail: str, connector: str = "") -> list[Record]:
        return self._append(FaultRecord(connector=connector, code=code, detail=detail))

    def gap(self, what: str, *, count: int, detail: str) -> list[Record]:
        return self._append(GapRecord(what=what, count=count, detail=detail))

    def health(self, health: str, note: str) -> list[Record]:
        return self._append(HealthRecord(health=health, note=note))

    def lifecycle(self, note: str) -> list[Record]:
        return self._append(LifecycleRecord(note=note))

    def expire(self) -> list[Record]:
        now = trio.current_time()
        over = [one for one in self.deadlines if one <= now]
        self.deadlines = [one for one in self.deadlines if one > now]
        return self._append(ExpiryRecord(at_ms=round(now * 1000), expired=len(over))) if over else []

    def next_deadline_ms(self) -> int | None:
        if not self.deadlines:
            return None
        return max(0, round((min(self.deadlines) - trio.current_time()) * 1000))

    def make_room(self) -> None:
        self.rooms += 1

    def checkpoint(self) -> None:
        self.checkpoints.append(len(self.log))

    def verify(self) -> list[Record]:
        self.verified.append(trio.current_time())
        return []

    def records_after(self, seq: int, limit: int) -> list[Record]:
        return [record for record in self.log if record.seq > seq][:limit]

    def with_codes(self, records: Sequence[Record]) -> list[Record]:
        """Every verdict has one: its sequence."""
        return [
            msgspec.structs.replace(record, code=f"CODE-{record.seq}")
            if isinstance(record, VerdictRecord)
            else record
            for record in records
        ]

    def newest_seq(self) -> int:
        return self.log[-1].seq if self.log else 0

    def show(self, call_id: str) -> CallView:
        return CallView(VERSION, call_id, [], [record for record in self.log if record.call == call_id])

    def session(self, name: str, limit: int) -> SessionView:
        return SessionView(VERSION, 1, {"name": name, "limit": limit})

    def sessions(self, limit: int) -> SessionList:
        return SessionList(VERSION, [{"limit": limit}])

    def close(self) -> None:
        self.log.clear()

    def _append(self, record: Record) -> list[Record]:
        if self.store_is_full:
            return []
        self._newest += 1
        self.log.append(msgspec.structs.replace(record, seq=self._newest))
        return self.log[-1:]
