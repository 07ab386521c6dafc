"""The fail-closed floor: a fault is a value that refuses every call."""

from __future__ import annotations

import pytest

from guard_cases import call, read, shell, subject
from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Surface
from latch_contracts.verdict import Action
from latchd.guard.floor import canonical, policy_fault
from latchd.guard.walk import judge
from latchd.policy import Policy, Profile

CLAUDE = CONNECTORS["claudecode"].contract


def test_a_policy_naming_an_unregistered_tool_denies_every_call_and_says_which() -> None:
    verdict = judge(read("a.txt", policy=Policy(tools=("Bash", "Teleport"))))

    assert (verdict.action, verdict.rule, verdict.participant) == (Action.DENY, "floor.policy-tools", "floor")
    assert "`Teleport`" in verdict.reason


def test_an_unreadable_tool_list_denies_every_call() -> None:
    verdict = judge(read("a.txt", policy=Policy(tools=("Bash",)), connector="nobody"))

    assert verdict.rule == "floor.policy-tools"


@pytest.mark.parametrize(
    "name", ["Bash", "bash", "shell", "run_shell_command", "write_file", "Write", "mcp__x__y"]
)
def test_canonical_names_satisfy_the_floor(name: str) -> None:
    assert policy_fault(Policy(tools=(name,)), CLAUDE) == ""


def test_no_named_tool_no_floor_a_read_passes() -> None:
    assert judge(read("a.txt")).action is Action.ALLOW


def test_a_floor_fault_is_recorded_and_not_obeyed_under_observe() -> None:
    verdict = judge(read("a.txt", policy=Policy(profile=Profile.OBSERVE, tools=("Teleport",))))

    assert (verdict.action, [found.rule for found in verdict.findings]) == (
        Action.ALLOW,
        ["floor.policy-tools"],
    )


@pytest.mark.parametrize("command", [None, "", "  \n "])
def test_a_shell_call_without_a_command_is_refused(command: str | None) -> None:
    assert judge(subject(call("Bash", Surface.SHELL, command=command))).rule == "floor.invalid-call"


@pytest.mark.parametrize("surface", [Surface.READ, Surface.WRITE, Surface.EDIT, Surface.PATCH, Surface.FETCH])
def test_a_tool_without_the_argument_it_needs_is_refused(surface: Surface) -> None:
    assert judge(subject(call("Tool", surface))).rule == "floor.invalid-call"


def test_many_names_are_one_tool() -> None:
    assert [canonical(name) for name in ("Bash", "run_shell_command", "Write", "write-file", "Odd")] == [
        "shell",
        "shell",
        "write",
        "write",
        "odd",
    ]


def test_the_floor_comes_before_self_protection() -> None:
    assert judge(shell("latchctl allow 1", policy=Policy(tools=("Teleport",)))).rule == "floor.policy-tools"
