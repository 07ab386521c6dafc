"""Each promise about the stored state is kept by real work, and its breach is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine_bench import Bench
from latchd.store.bounds import Bounds
from latchd.store.checks import PROMISES, Finding, examine
from latchd.store.database import Database

ZERO = "x'" + "00" * 32 + "'"
POLICY = f"policy, {ZERO[:-1]}', 1, 0, boot"

# promise -> what breaks it and nothing worse, in a database of one succeeded, one denied, one pending call
BREACHES: dict[str, str] = {
    "schema": "CREATE TABLE theirs (x)",
    "pending-is-open": "UPDATE calls SET result = x'01' WHERE state = 'pending'",
    "final-is-closed": "UPDATE calls SET closed_seq = 0 WHERE state = 'denied'",
    "step-is-success": "UPDATE calls SET closed_seq = closed_seq + 1 WHERE state = 'succeeded'",
    "success-is-step": "UPDATE steps SET seq = 1; DELETE FROM steps; UPDATE sessions SET steps = 0",
    "step-has-call": f"UPDATE steps SET call = {ZERO}",
    "enforcement-is-detection": "PRAGMA ignore_check_constraints = 1; UPDATE calls SET enforcement = 1",
    "opened-by-verdict": "UPDATE records SET kind = 'denial' WHERE seq = (SELECT min(seq) FROM records)",
    "proven-by-outcome": "UPDATE records SET kind = 'verdict' WHERE kind = 'outcome'",
    "sequence-is-given": "UPDATE sessions SET last_seq = 1000",
    "session-is-known": "DELETE FROM sessions",
    "counters-count": "UPDATE sessions SET succeeded = 9",
    "leave-is-used-once": "UPDATE refusals SET used_seq = seq",
    "pending-is-bounded": "",
    "records": "UPDATE records SET body = x'c1' WHERE kind = 'denial'",
}
# what breaks with it, because it says the same in other words
WITH_IT = {
    "success-is-step": {"step-has-call"},
    "step-has-call": {"success-is-step"},
    "enforcement-is-detection": {"integrity"},
    "opened-by-verdict": {"records"},
    "proven-by-outcome": {"records"},
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    bench = Bench(tmp_path)
    bench.pre("git status", "c1")
    bench.post("git status", "c1")
    bench.pre("rm -rf ~", "c2")
    bench.pre("git log", "c3")
    bench.engine.close()
    return Path(bench.places.database)


def found(path: Path, bounds: Bounds | None = None) -> list[Finding]:
    database = Database.open_to_read(path)
    try:
        return examine(database, bounds or Bounds())
    finally:
        database.close()


def broken(path: Path, bounds: Bounds | None = None) -> set[str]:
    return {one.check for one in found(path, bounds) if one.breaches}


def test_real_work_keeps_every_promise(path: Path) -> None:
    assert broken(path) == set()


def test_every_promise_has_its_breach_here() -> None:
    assert {name for name, _, _ in PROMISES} <= set(BREACHES)


@pytest.mark.parametrize("name", BREACHES)
def test_a_breach_is_named_and_nothing_else_is(path: Path, name: str) -> None:
    database = Database.open(path)
    for statement in filter(None, BREACHES[name].split("; ")):
        database.run(statement)
    database.close()
    bounds = Bounds(pending_per_session=0) if name == "pending-is-bounded" else Bounds()

    assert broken(path, bounds) - WITH_IT.get(name, set()) == {name}


def test_a_breach_says_where(path: Path) -> None:
    database = Database.open(path)
    database.run("UPDATE calls SET result = x'01' WHERE state = 'pending'")
    (seq,) = database.row("SELECT opened_seq FROM calls WHERE state = 'pending'") or (0,)
    database.close()

    (finding,) = [one for one in found(path) if one.breaches]
    assert finding == Finding(
        "pending-is-open", "a pending call has neither an end nor a result", 1, (f"seq {seq}",)
    )


def test_what_bounds_have_taken_is_no_breach(path: Path) -> None:
    database = Database.open(path)
    database.run("DELETE FROM calls WHERE state = 'succeeded'")
    database.close()

    assert broken(path) == {"step-has-call", "counters-count"}
    assert broken(path, Bounds(calls=2)) == set()


def test_a_page_of_rubbish_is_a_finding_and_no_crash(path: Path) -> None:
    size = path.stat().st_size
    with path.open("r+b") as file:
        for page in range(8192, size, 4096):
            file.seek(page)
            file.write(b"\xa5" * 4096)

    assert "integrity" in broken(path)
