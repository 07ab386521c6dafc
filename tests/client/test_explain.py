"""`latchctl explain`: facts, verdict, and why."""

from __future__ import annotations

import json

import pytest

from latch_client.cli import main
from latch_client.commands.explain import lines
from latch_client.paint import Paint
from latch_contracts.facts import (
    Access,
    ActionFacts,
    Command,
    Grammar,
    Operation,
    PathFact,
    Reach,
    Status,
)
from latch_contracts.verdict import PASS, Action, Disposition, Finding, Severity, Verdict
from latchd.policy import Profile

FACTS = ActionFacts(
    tool="Bash",
    status=Status.COMPLETE,
    cwd="/p",
    home="/h",
    commands=(
        Command(1, "make", "make", argv=("make",), operations=(Operation.EXECUTE,), grammar=Grammar.KNOWN),
        Command(
            2,
            "rm",
            "rm",
            argv=("rm", "-r", "/h"),
            reach=Reach.CONDITIONAL,
            operations=(Operation.DELETE,),
            grammar=Grammar.KNOWN,
            details=("recursive",),
        ),
    ),
    paths=(PathFact(2, Access.DELETE, "/h", resolved="/h", recursive=True),),
)
HOME_GONE = Finding("fs.home", "destroy", Severity.CRITICAL, "[fs.home] gone. Keep it.", 2, "/h")
NOTICED = Finding("net.x", "network", Severity.LOW, "net", 1, disposition=Disposition.DETECT)
ALSO = Finding("vouch.x", "cannot-vouch", Severity.LOW, "who", 0)


def test_a_refusal_names_rule_group_segment_target_and_the_way_out() -> None:
    verdict = Verdict(Action.DENY, "fs.home", HOME_GONE.reason, "guard", (NOTICED, HOME_GONE, ALSO))

    assert list(lines("make && rm -r /h", FACTS, verdict, Profile.BALANCED, Paint(coloured=False))) == [
        "make && rm -r /h",
        "",
        "cwd    /p",
        "home   /h",
        "facts  complete",
        "",
        " 1  make",
        "    runs  always",
        "    does  execute",
        "",
        " 2  rm -r /h",
        "    runs    depends on what comes before",
        "    does    delete (recursive)",
        "    delete  /h (with all below it)",
        "",
        "✗ deny  fs.home",
        "    because  something outside the project and scratch is destroyed; "
        "profile `balanced` denies group `destroy`",
        "    segment  2: rm -r /h",
        "    target   /h",
        "    proof    critical, semantic, enforceable",
        "    reason   [fs.home] gone. Keep it.",
        "",
        "also noticed",
        "    net.x    1: make   profile `balanced` allows group `network`",
        "    vouch.x  the call  profile `balanced` asks about group `cannot-vouch`",
    ]


def test_an_allowed_command_says_that_no_rule_objects() -> None:
    facts = ActionFacts(tool="Bash", status=Status.COMPLETE, cwd="/p", home="/h")

    assert list(lines(":\x1b", facts, PASS, Profile.STRICT, Paint(coloured=False))) == [
        ":\\x1b",
        "",
        "cwd    /p",
        "home   /h",
        "facts  complete",
        "",
        "✓ allow  no rule objects",
    ]


def test_it_agrees_with_check(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("cd build && rm -rf ~", "ls", "$x y", "echo 'a", ""):
        main(["check", command, "--json"])
        checked = json.loads(capsys.readouterr().out)
        assert main(["explain", command, "--json"]) == 0
        explained = json.loads(capsys.readouterr().out)

        verdict = explained["verdict"]
        assert [verdict["action"], verdict.get("rule"), explained["facts"]["status"]] == [
            checked[member] for member in ("verdict", "rule", "status")
        ]


def test_the_places_and_the_profile_can_be_given(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "rm -r x", "--cwd", "/w", "--home", "/h", "--profile", "observe"]) == 0
    out = capsys.readouterr().out

    assert "cwd    /w\nhome   /h\n" in out
    assert "/w/x" in out
    assert "✓ allow" in out
