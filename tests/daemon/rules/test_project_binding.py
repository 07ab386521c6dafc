"""A pending call is bound to what its project adds: packs and policy there are part of what judged it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from engine_bench import Bench, only
from latch_contracts.outcome import State
from latch_contracts.records import OutcomeRecord, VerdictRecord

PACK = """
version: 1
category: team
rules:
  - id: team.deploy
    title: {title}
    severity: medium
    confidence: 0.9
    pattern: ^deploytool
    tags: [deployment]
    message: this deploys
    instead: let the person do it
    denies: [deploytool prod]
"""
CHANGED = "policy, contract or agent version changed since it was judged"


def nothing(_: Path) -> None:
    """A project that adds nothing."""


def pack(project: Path, title: str = "a deployment is begun") -> None:
    directory = project / ".latchd" / "rules"
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "team.yaml").write_text(PACK.format(title=title))


def other_pack(project: Path) -> None:
    pack(project, "a deployment is about to be begun")


def no_pack(project: Path) -> None:
    (project / ".latchd" / "rules" / "team.yaml").unlink()


def policy(project: Path) -> None:
    (project / ".latchd.toml").write_text('profile = "strict"')


def broken(project: Path) -> None:
    pack(project)
    (project / ".latchd" / "rules" / "team.yaml").write_text("version: 2")


def outcome(bench: Bench, **members: object) -> tuple[State | None, bool, str]:
    record = only(bench.post("make", "c1", **members), OutcomeRecord)
    return record.after, record.step is not None, record.why


@pytest.mark.parametrize("standing", [nothing, pack, policy])
def test_the_same_project_files_before_and_after_promote(
    tmp_path: Path, standing: Callable[[Path], None]
) -> None:
    bench = Bench(tmp_path)
    standing(bench.project)
    bench.pre("make", "c1")

    assert outcome(bench) == (State.SUCCEEDED, True, "")


@pytest.mark.parametrize(
    ("before", "after"),
    [(nothing, pack), (pack, other_pack), (pack, no_pack), (nothing, policy), (pack, broken)],
)
def test_project_files_that_appear_change_or_go_make_the_pending_call_another_ones(
    tmp_path: Path, before: Callable[[Path], None], after: Callable[[Path], None]
) -> None:
    bench = Bench(tmp_path)
    before(bench.project)
    bench.pre("make", "c1")
    after(bench.project)

    assert outcome(bench) == (State.EXPIRED, False, CHANGED)


def test_a_call_is_bound_where_it_was_proposed_and_not_where_its_result_comes_from(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    pack(bench.project)
    elsewhere = tmp_path / "home" / "other"
    elsewhere.mkdir()
    bench.pre("make", "c1")

    assert outcome(bench, cwd=str(elsewhere)) == (State.SUCCEEDED, True, "")


def test_after_a_restart_the_place_of_the_result_stands_for_that_of_the_proposal(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    pack(bench.project)
    bench.pre("make", "c1")
    bench.restart()

    assert outcome(bench) == (State.SUCCEEDED, True, "")


def test_a_project_that_adds_rules_forgets_nothing_that_its_session_has_proven(tmp_path: Path) -> None:
    """Else an agent would leave a chain behind by going into a directory with a pack."""
    bench = Bench(tmp_path, config=b'profile = "strict"\n')
    bench.pre("sudo -l", "c1")
    bench.post("sudo -l", "c1")
    pack(bench.project)
    record = only(bench.pre("sudo -i", "c2"), VerdictRecord)

    assert "chain.privilege-discovery-then-elevation" in [found.rule for found in record.findings]


def test_a_record_names_the_rules_that_were_asked_in_its_project(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    plain = only(bench.pre("make", "c1"), VerdictRecord)
    pack(bench.project)
    packed = only(bench.pre("make", "c2"), VerdictRecord)

    assert plain.rules == bench.engine.rules.fingerprint.hex()[:16]
    assert (len(packed.rules), packed.rules != plain.rules) == (16, True)
    assert packed.policy != plain.policy
