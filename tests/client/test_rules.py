"""`latchctl rules`: list, show, validate, test."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from latch_client.cli import main
from latch_contracts.places import Places
from latchd.rules.bundled import released
from wire_server import places_in

PACK = """version: 1
category: mine
rules:
  - id: mine.deploy
    title: a deployment is begun
    severity: critical
    confidence: 0.9
    tags: [deployment]
    programs: [deploytool]
    expression: f.commands.exists(c, c.program == "deploytool")
    pattern: ^deploytool
    message: this deploys
    instead: let the person do it
    denies: [deploytool prod]
    passes: [echo deploytool]
"""


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.chdir(tmp_path)
    return places_in(tmp_path, monkeypatch)


def own(places: Places, content: str = PACK) -> Path:
    rules = Path(places.config) / "rules"
    rules.mkdir(parents=True, exist_ok=True)
    (rules / "mine.yaml").write_text(content)
    return rules / "mine.yaml"


def printed(capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_rule_in_force_is_listed_with_what_is_done_about_it(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    pack = own(places)
    Path(places.config_file).write_text('[rules]\ndisable = ["db.loss"]\n[groups]\nnetwork = "ask"\n')
    assert main(["rules", "list", "--json"]) == 0
    rows = {row["id"]: row for row in printed(capsys)}

    assert len(rows) == len(released().entries) + 1
    assert rows["mine.deploy"] == {
        "id": "mine.deploy",
        "title": "a deployment is begun",
        "group": "by-severity",
        "severity": "critical",
        "action": "deny",
        "source": f"{pack}:4",
        "enabled": True,
    }
    assert rows["db.loss"]["enabled"] is False
    assert rows["network.tool"]["action"] == "ask"


def test_the_list_for_a_person_is_a_table(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--profile", "strict"]) == 0
    head, first, *_ = capsys.readouterr().out.splitlines()

    assert head.split() == ["rule", "group", "severity", "answer", "from"]
    assert first.split() == ["self.files", "self-protection", "critical", "deny", "built-in"]


def test_a_projects_packs_are_in_force_in_the_project(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Path("work/.latchd/rules")
    rules.mkdir(parents=True)
    (rules / "team.yaml").write_text(PACK.replace("mine.", "team."))
    main(["rules", "list", "--json", "--project", "work"])

    assert "team.deploy" in [row["id"] for row in printed(capsys)]


def test_one_rule_is_shown_whole(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    own(places)
    assert main(["rules", "show", "mine.deploy"]) == 0

    assert capsys.readouterr().out == (
        "mine.deploy  a deployment is begun\n"
        "  group       by-severity\n"
        "  severity    critical\n"
        "  action      deny\n"
        f"  source      {places.config}/rules/mine.yaml:4\n"
        "  enabled     yes\n"
        "  message     this deploys\n"
        "  instead     let the person do it\n"
        "  needs       program deploytool\n"
        "  denies      deploytool prod\n"
        "  passes      echo deploytool\n"
        '  expression  f.commands.exists(c, c.program == "deploytool")\n'
        "  pattern     ^deploytool\n"
        "  binds       command\n"
        "  confidence  0.9\n"
        "  tags        deployment\n"
        "  programs    deploytool\n"
    )


def test_a_coded_rule_is_shown_with_its_way_out(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "show", "git.discard-work", "--json"]) == 0
    (shown,) = printed(capsys)

    assert shown["instead"] == "commit or `git stash push` it first, or ask the person"
    assert "git reset --hard" in shown["denies"]


def test_a_rule_that_is_not_there_is_one_line_with_a_guess(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "show", "db.los"]) == 1
    assert capsys.readouterr().err == "latchctl: there is no rule `db.los`; did you mean `db.loss`?\n"


def test_a_good_pack_validates(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    pack = own(places)

    assert main(["rules", "validate"]) == 0
    assert main(["rules", "validate", str(pack)]) == 0
    assert capsys.readouterr().out == "1 packs, nothing is wrong\n" * 2


@pytest.mark.parametrize(
    ("content", "line", "why"),
    [
        (
            PACK.replace("severity: critical", "severity: grave"),
            6,
            "`rules[0].severity` is wrong: invalid enum value 'grave'",
        ),
        (
            PACK.replace("c.program", "c.prog"),
            10,
            "`mine.deploy`: expression 1:23: `prog` is no field of a command",
        ),
        (
            PACK.replace("mine.deploy", "db.loss"),
            4,
            "`db.loss` is a rule of latchd/rules/packs/databases.yaml:5 already",
        ),
        (
            PACK.replace("denies: [deploytool prod]", "denies: [othertool]"),
            4,
            "`mine.deploy`: `othertool` is not found by its own rule",
        ),
        (
            PACK.replace("let the person do it", "run `deploytool --plan`"),
            4,
            "`mine.deploy`: advises `deploytool --plan`, which `mine.deploy` refuses",
        ),
        ("version: 1", 1, "`category` is missing in the file"),
    ],
)
def test_what_is_wrong_with_a_pack_is_told_with_file_and_line_and_exit_code_2(
    places: Places, capsys: pytest.CaptureFixture[str], content: str, line: int, why: str
) -> None:
    Path("p.yaml").write_text(content)

    assert main(["rules", "validate", "p.yaml"]) == 2
    assert capsys.readouterr().out == f"p.yaml:{line}: {why}\n"


def test_a_fault_is_an_object_too(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text("version: 1")

    assert main(["rules", "validate", "--json", "p.yaml"]) == 2
    assert printed(capsys) == [
        {
            "file": "p.yaml",
            "line": 1,
            "rule": None,
            "reason": "`category` is missing in the file",
            "weight": "refused",
        }
    ]


def test_without_a_pack_there_is_nothing_to_validate(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "validate"]) == 0
    assert capsys.readouterr().out == f"there is no pack in `{places.config}/rules`\n"


def test_a_file_that_is_not_there_is_one_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "validate", "nothing.yaml"]) == 1
    assert capsys.readouterr().err == "latchctl: `nothing.yaml`: no such file or directory\n"


def test_a_packs_examples_are_run(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    Path("p.yaml").write_text(PACK)
    assert main(["rules", "test", "p.yaml"]) == 0
    Path("p.yaml").write_text(PACK.replace("passes: [echo deploytool]", "passes: [deploytool test]"))
    assert main(["rules", "test", "p.yaml"]) == 1

    assert capsys.readouterr().out == (
        "2 examples of 1 rules, 0 do not hold\n"
        "`mine.deploy`: `deploytool test` is found by its own rule\n"
        "2 examples of 1 rules, 1 do not hold\n"
    )


def test_rows_say_which_verdict_they_want_and_by_which_rule(
    places: Places, capsys: pytest.CaptureFixture[str]
) -> None:
    own(places)
    rows = [
        {"id": 1, "command": "deploytool prod", "verdict": "deny", "rule": "mine.deploy"},
        {"id": 2, "command": "ls", "verdict": "allow"},
        {"id": 3, "command": "ls", "verdict": "deny"},
        {"id": 4, "command": "rm -rf ~", "verdict": "deny", "rule": "mine.deploy"},
    ]
    Path("rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert main(["rules", "test", "--jsonl", "rows.jsonl"]) == 1
    out, err = capsys.readouterr()

    assert [(row["id"], row["holds"]) for row in map(json.loads, out.splitlines())] == [
        (1, True),
        (2, True),
        (3, False),
        (4, False),
    ]
    assert err == "4 rows, 2 do not hold\n"


def test_packs_of_a_directory_judge_offline(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    directory = own(places).parent

    assert main(["check", "deploytool prod", "--rules", str(directory)]) == 4
    assert main(["check", "deploytool prod"]) == 0
    assert main(["check", "ls", "--rules", "nowhere"]) == 1
    assert capsys.readouterr().err == "latchctl: `nowhere` is no directory\n"
