"""Facts claim authority only when all of them are known, and evidence only when all of it acts."""

from __future__ import annotations

from typing import Final

import msgspec
import pytest

from latch_contracts.facts import ActionFacts, Command, Effect, Status

RUNS: Final = Command(id=1, program="rm", executable="rm")
SHOWS: Final = Command(id=2, program="rm", executable="rm", effect=Effect.PREVIEW)
MAYBE: Final = Command(id=2, program="x", executable="x", effect=Effect.UNCERTAIN)


@pytest.mark.parametrize("status", list(Status))
def test_only_complete_facts_are_authoritative(status: Status) -> None:
    facts = ActionFacts(tool="shell", status=status, commands=(RUNS,))

    assert (facts.authoritative, facts.enforcement_eligible) == ((status is Status.COMPLETE),) * 2


@pytest.mark.parametrize(
    ("commands", "eligible"),
    [((RUNS,), True), ((), False), ((RUNS, SHOWS), False), ((RUNS, MAYBE), False)],
    ids=["all act", "none", "one previews", "one is uncertain"],
)
def test_one_command_that_may_not_act_takes_all_evidence_away(
    commands: tuple[Command, ...], eligible: bool
) -> None:
    facts = ActionFacts(tool="shell", status=Status.COMPLETE, commands=commands)

    assert facts.enforcement_eligible is eligible


def test_a_command_is_found_by_its_position_counted_from_1() -> None:
    facts = ActionFacts(tool="shell", status=Status.COMPLETE, commands=(RUNS, SHOWS))

    assert [facts.command(position) for position in (-1, 0, 1, 2, 3)] == [None, None, RUNS, SHOWS, None]


def test_facts_come_back_equal_from_json() -> None:
    facts = ActionFacts(tool="shell", status=Status.PARTIAL, cwd="/a", commands=(RUNS, MAYBE))

    assert msgspec.json.decode(msgspec.json.encode(facts), type=ActionFacts) == facts
