"""What is interrupted at every change to the disk: an agent's session, and a migration."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

import made_up_schemas
from crash_sweep import Scenario
from engine_bench import Bench
from latch_contracts.records import Record
from latchd.hook_calls import Handled
from latchd.store.bounds import Bounds
from latchd.store.checks import examine
from latchd.store.database import Database
from latchd.store.errors import StoreUnusable
from latchd.store.sqlite import shape_of

_EXPIRY_MS: Final = 31 * 60 * 1000


def breaches(path: Path) -> list[str]:
    """What ``latchctl db check`` finds wrong."""
    database = Database.open_to_read(path)
    try:
        found = examine(database, Bounds())
    finally:
        database.close()
    return [f"{one.check}: {', '.join(one.examples)}" for one in found if one.breaches]


# An agent's work

Act = Callable[[Bench], Handled | list[Record]]

ACTS: Final[tuple[tuple[str, Act], ...]] = (
    ("proposal", lambda bench: bench.pre("sudo -l", "c1")),
    ("success", lambda bench: bench.post("sudo -l", "c1")),
    ("refusal", lambda bench: bench.pre("rm -rf /", "c2")),
    ("cut proposal", lambda bench: bench.pre("git status", "c3")),
    ("boundary", lambda bench: bench.send("Stop")),
    ("failing proposal", lambda bench: bench.pre("git status", "c4")),
    ("failure", lambda bench: bench.fail("git status", "c4")),
    ("soon conflicting", lambda bench: bench.pre("git status", "c5")),
    ("conflict", lambda bench: bench.pre("git diff", "c5")),
    ("late proposal", lambda bench: bench.pre("git status", "c6")),
    ("expiry", lambda bench: _expiry(bench)),
    ("typed denial", lambda bench: bench.send("PermissionDenied", **_denied("c7"))),
    ("session end", lambda bench: bench.send("SessionEnd", reason="exit")),
)
CALLS: Final = ("c1", "c2", "c3", "c4", "c5", "c6", "c7")


def _denied(call: str) -> dict[str, Any]:
    return {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": call, "reason": "no"}


def _expiry(bench: Bench) -> list[Record]:
    bench.clock.advance_ms(_EXPIRY_MS)
    return bench.engine.expire()


class Work:
    """A session from its first call to its end, with a checkpoint in the middle and at the stop.

    What was acknowledged is stored as it was told, and at most one act more. The act that was not
    acknowledged gets, when it is done again, the answer it would have got, and all calls end as they
    do without a crash.
    """

    def __init__(self) -> None:
        self._answers: list[object] = []
        self._records: list[list[Record]] = []
        self._states: dict[str, list[tuple[str, bool]]] = {}

    def prepare(self, root: Path) -> None:
        """The run without a crash, and a key, so that the same event is the same row each time."""
        work = root.with_name("work")
        bench = Bench(work)
        for name, act in ACTS:
            before = bench.engine.newest_seq()
            self._answers.append(_answer(act(bench)))
            self._records.append(bench.engine.records_after(before, 99))
            if name == "refusal":
                bench.engine.checkpoint()
        self._states = {call: bench.states(call) for call in CALLS}
        bench.engine.close()
        assert breaches(Path(bench.places.database)) == []
        (root / "latchd.key").write_bytes((work / "latchd.key").read_bytes())
        (root / "latchd.key").chmod(0o600)
        shutil.rmtree(work)

    def run(self, root: Path, acknowledge: Callable[[str], None]) -> None:
        bench = Bench(root)
        for name, act in ACTS:
            before = bench.engine.newest_seq()
            answer = _answer(act(bench))
            acknowledge(json.dumps([answer, _plain(bench.engine.records_after(before, 99))]))
            if name == "refusal":
                bench.engine.checkpoint()
        bench.engine.close()

    def faults(self, root: Path, acknowledged: list[str], *, died: bool) -> list[str]:
        wrong: list[str] = []
        told = [json.loads(line) for line in acknowledged]
        done = len(told)
        expected = [[a, _plain(r)] for a, r in zip(self._answers, self._records, strict=True)]
        if told != expected[:done]:
            wrong.append(f"answers differ from those without a crash: {told} {expected[:done]}")
        bench = Bench(root)
        if bench.engine.degraded:
            wrong.append(f"degraded: {bench.engine.degraded}")
        stored = bench.engine.records_after(0, 999)
        flat = [record for records in self._records for record in records]
        least = sum(map(len, self._records[:done]))
        most = sum(map(len, self._records[: done + 1]))
        if not (stored == flat[: len(stored)] and least <= len(stored) <= most):
            wrong.append(f"{len(stored)} records stored, {least} to {most} expected")
        bench.clock.advance_ms(_EXPIRY_MS if done > _AFTER_EXPIRY else 0)
        for (name, act), answer in list(zip(ACTS, self._answers, strict=True))[done:]:
            if (again := _answer(act(bench))) != answer:
                wrong.append(f"{name}: {again}, not {answer}")
        states = {call: bench.states(call) for call in CALLS}
        if states != self._states:
            wrong.append(f"states {states}, not {self._states}")
        bench.engine.close()
        return wrong + breaches(Path(bench.places.database))


_AFTER_EXPIRY: Final = [name for name, _ in ACTS].index("expiry")


def _answer(result: Handled | list[Record]) -> object:
    """What the agent gets; work that is nobody's answer has none."""
    if isinstance(result, list):
        return None
    reply = result.reply
    return [reply.exit_code, reply.stdout.decode(), reply.stderr.decode()]


def _plain(records: list[Record]) -> object:
    return json.loads(msgspec.json.encode(records))


# A migration


class Migrating:
    """Two steps at once. Whatever died, the next start goes on from a whole schema and comes to the last.

    Nothing of a step is there without its number, and a step is taken only when a whole copy of the
    database from before lies beside it.
    """

    def prepare(self, root: Path) -> None:
        database = Database.open(root / "latchd.db", schema=made_up_schemas.V1)
        with database.transaction():
            for row in made_up_schemas.ROWS:
                database.insert("INSERT INTO items VALUES (?, ?)", row)
        database.close()

    def run(self, root: Path, acknowledge: Callable[[str], None]) -> None:
        Database.open(root / "latchd.db", schema=made_up_schemas.V3).close()
        acknowledge("migrated")

    def faults(self, root: Path, acknowledged: list[str], *, died: bool) -> list[str]:
        path = root / "latchd.db"
        wrong = self._whole(path)
        if wrong:
            return wrong
        if (reached := _version(path)) > 1 and not any(map(self._is_copy, root.glob("latchd.db.schema-1.*"))):
            wrong.append(f"at schema {reached} without a copy")
        if acknowledged and reached != made_up_schemas.V3.version:
            wrong.append(f"acknowledged at schema {reached}")
        database = Database.open(path, schema=made_up_schemas.V3)
        items = database.rows("SELECT * FROM items")
        totals = database.rows("SELECT * FROM totals ORDER BY name")
        database.close()
        if (items, totals) != (made_up_schemas.ITEMS_AT_3, made_up_schemas.TOTALS_AT_3):
            wrong.append(f"{items} {totals}")
        if left := [one.name for one in root.iterdir() if "partial" in one.name or "corrupt" in one.name]:
            wrong.append(f"left behind: {left}")
        return wrong + self._whole(path)

    def _whole(self, path: Path) -> list[str]:
        """What is wrong with it as a database of the schema it says it has."""
        schema = made_up_schemas.ALL[_version(path)]
        database = Database.open_to_read(path, schema=schema)
        try:
            shape = database.shape()
            sound = database.rows("PRAGMA integrity_check")
        finally:
            database.close()
        if shape != shape_of(schema) or sound != [("ok",)]:
            return [f"not a whole schema {schema.version}: {sorted(shape)} {sound}"]
        return []

    def _is_copy(self, path: Path) -> bool:
        database = Database.open_to_read(path, schema=made_up_schemas.V1)
        try:
            return database.rows("SELECT * FROM items ORDER BY id") == made_up_schemas.ROWS
        finally:
            database.close()


def _version(path: Path) -> int:
    """The number in the file as a reader finds it: its log counts."""
    for version, schema in made_up_schemas.ALL.items():
        try:
            Database.open_to_read(path, schema=schema).close()
        except StoreUnusable:
            continue
        return version
    raise AssertionError(f"`{path}` is of no known schema")


SCENARIOS: Final[Mapping[str, Scenario]] = {"work": Work(), "migration": Migrating()}
