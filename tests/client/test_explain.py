"""`latchctl explain`: facts, verdict, and why."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from guard_cases import shell
from latch_client.cli import main
from latch_client.commands.explain import lines, ways_out
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
from latchd.guard.subject import Subject

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


def given(facts: ActionFacts) -> Subject:
    return msgspec.structs.replace(shell("made by hand"), facts=facts)


HOME_GONE = Finding("fs.home", "destroy", Severity.CRITICAL, "[fs.home] gone. Keep it.", 2, "/h")
NOTICED = Finding("net.x", "network", Severity.LOW, "net", 1, disposition=Disposition.DETECT)
ALSO = Finding("vouch.x", "cannot-vouch", Severity.LOW, "who", 0)


def test_a_refusal_names_rule_group_segment_target_and_the_way_out() -> None:
    verdict = Verdict(Action.DENY, "fs.home", HOME_GONE.reason, "guard", (NOTICED, HOME_GONE, ALSO))

    assert list(lines("make && rm -r /h", given(FACTS), verdict, Paint(coloured=False))) == [
        "make && rm -r /h",
        "",
        "cwd    /p",
        "home   /h",
        "facts  complete: every command that can run is listed",
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
        "    proof    critical, proven by facts, enforceable",
        "    facts    delete (recursive); delete /h in home",
        "    reason   [fs.home] gone. Keep it.",
        "    way out  run it yourself · `latchctl allow CODE`, once · `allow.paths` · `rules.disable`",
        "    asked    0 rules",
        "",
        "also noticed",
        "    net.x    1: make   profile `balanced` allows group `network`",
        "    vouch.x  the call  profile `balanced` asks about group `cannot-vouch`",
    ]


def test_an_allowed_command_says_that_no_rule_objects() -> None:
    facts = ActionFacts(tool="Bash", status=Status.COMPLETE, cwd="/p", home="/h")

    assert list(lines(":\x1b", given(facts), PASS, Paint(coloured=False))) == [
        ":\\x1b",
        "",
        "cwd    /p",
        "home   /h",
        "facts  complete: every command that can run is listed",
        "",
        "✓ allow  no rule objects",
        "    asked  0 rules",
    ]


@pytest.mark.parametrize(
    ("group", "target", "ways"),
    [
        ("self-protection", "/x", "none: the person does it in their own terminal"),
        ("destroy", "db", "run it yourself · `latchctl allow CODE`, once · `rules.disable`"),
        (
            "upload-unknown",
            "x.example",
            "run it yourself · `latchctl allow CODE`, once · `allow.programs` · `network.allow` · "
            "`groups.upload-unknown` · `rules.disable`",
        ),
    ],
)
def test_the_ways_out_are_those_that_the_group_has(group: str, target: str, ways: str) -> None:
    assert ways_out(Finding("x.y", group, Severity.HIGH, "no", target=target)) == ways


def test_a_rule_of_a_pack_says_where_it_is_written(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "kubectl delete ns prod"]) == 0
    out = capsys.readouterr().out

    assert "    written in  latchd/rules/packs/clusters.yaml:" in out
    assert "    facts       delete, connect (cluster-loss" in out


def test_a_config_that_answers_otherwise_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = tmp_path / "c.toml"
    config.write_text('[groups]\npackage = "ask"\n')
    assert main(["explain", "npm install x", "--config", str(config)]) == 0

    assert "a package is installed; your config asks about group `package`" in capsys.readouterr().out


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
