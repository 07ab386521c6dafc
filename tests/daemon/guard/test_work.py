"""What both participants need is made once for a call, and never taken for another call's."""

from __future__ import annotations

import msgspec
import pytest

from guard_cases import shell
from latch_contracts.facts import ActionFacts
from latchd.guard import embedded
from latchd.guard.needs import traits
from latchd.guard.rules import vouch
from latchd.guard.walk import judge
from latchd.guard.work import Work
from latchd.policy import Policy
from latchd.shell.facts import analyze


def test_a_program_in_the_text_is_read_once_for_both_participants(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(command: str, *, cwd: str = "", home: str = "") -> ActionFacts:
        read.append(command)
        return analyze(command, cwd=cwd, home=home)

    monkeypatch.setattr(embedded, "analyze", counted)
    judge(shell("cat > a.py <<'E'\nprint(1)\nE\npython3 a.py\n"))
    assert read == ["python3 -c 'print(1)\n'"]


@pytest.mark.parametrize("destroys", [True, False])
def test_text_that_can_not_be_read_is_searched_once_for_question_and_refusal(
    monkeypatch: pytest.MonkeyPatch, *, destroys: bool
) -> None:
    searched: list[str] = []

    def counted(text: str) -> bool:
        searched.append(text)
        return destroys

    monkeypatch.setattr(vouch, "_text_destroys", counted)
    judge(shell("if ("))
    assert searched == ["if ("]


def test_the_traits_of_a_call_are_read_once() -> None:
    made = shell("rm -rf src")
    assert traits(made) is traits(made)


@pytest.mark.parametrize(
    "other",
    [
        {"policy": Policy(protected=("src",))},
        {"facts": shell("rm -rf src").facts},
        {"event": shell("ls").event},
    ],
    ids=["policy", "facts", "text"],
)
def test_a_call_that_differs_in_anything_is_read_anew_with_the_same_work(other: dict[str, object]) -> None:
    made = shell("rm -rf src")
    first = traits(made)
    changed = msgspec.structs.replace(made, **other)  # the work goes with it
    alone = msgspec.structs.replace(changed, work=Work())
    assert changed.work is made.work
    assert traits(changed) is not first
    assert traits(changed) == traits(alone)
