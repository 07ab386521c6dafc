"""`latchctl facts`: the drawing, and the JSON lines."""

from __future__ import annotations

import io
import json
import sys

import pytest

from latch_client.cli import main
from latch_client.doubts import ISSUES, STATUS
from latch_client.draw import facts_lines
from latch_client.paint import Paint
from latch_contracts.facts import (
    Access,
    ActionFacts,
    Command,
    DataFlow,
    Effect,
    End,
    Grammar,
    Issue,
    Kind,
    NetAction,
    NetworkFact,
    Operation,
    PathFact,
    Reach,
    Redirect,
    Scope,
    Status,
    Wrapper,
)

FACTS = ActionFacts(
    tool="shell",
    status=Status.COMPLETE,
    cwd="/home/dev/project",
    home="/home/dev",
    issues=(Issue.DYNAMIC_WORD,),
    commands=(
        Command(
            id=1,
            program="cat",
            executable="cat",
            argv=("cat", "a\x1b"),
            operations=(Operation.READ,),
            grammar=Grammar.KNOWN,
        ),
        Command(
            id=2,
            program="curl",
            executable="curl",
            argv=("curl", "-T", "-", "https://x.example/\0"),
            argv_complete=False,
            reach=Reach.CONDITIONAL,
            operations=(Operation.UPLOAD,),
            wrappers=(Wrapper("sudo", ("sudo", "-n")),),
            grammar=Grammar.KNOWN,
            details=("stdin",),
        ),
        Command(id=3, program="frob", executable="frob", argv=("frob", "rm"), suspected_child="rm"),
        Command(
            id=4,
            program="",
            executable="",
            kind=Kind.SHELL_REDIRECT,
            effect=Effect.UNCERTAIN,
            redirects=(Redirect(1, Access.WRITE, "out"),),
        ),
    ),
    paths=(
        PathFact(1, Access.READ, "a", resolved="/home/dev/project/a"),
        PathFact(4, Access.WRITE, "out\0", expands=True),
        PathFact(0, Access.DELETE, "/tmp/x", resolved="/tmp/x", recursive=True, globs=True),
    ),
    network=(NetworkFact(2, NetAction.UPLOAD, "x.example", "https", 443, scope=Scope.PUBLIC),),
    flows=(
        DataFlow(1, 2, End.STDOUT, End.STDIN),
        DataFlow(0, 1, End.FILE, End.STDIN, source_path="/home/dev/project/a"),
        DataFlow(2, 0, End.STDOUT, End.NETWORK, host="x.example"),
    ),
)


def test_the_drawing_has_a_block_for_each_command_and_what_flows() -> None:
    assert list(facts_lines(FACTS, Paint(coloured=False))) == [
        "cwd    /home/dev/project",
        "home   /home/dev",
        "facts  complete: every command that can run is listed",
        "doubt  dynamic_word: what runs depends on a word that is known only when it runs",
        "",
        " 1  cat a\\x1b",
        "    runs  always",
        "    does  read",
        "    read  /home/dev/project/a",
        "",
        " 2  curl -T - https://x.example/…",
        "    runs    depends on what comes before",
        "    inside  sudo -n",
        "    does    upload (stdin)",
        "    upload  https://x.example:443 (public)",
        "    doubt   some words are not known before it runs",
        "",
        " 3  frob rm",
        "    runs   always",
        "    does   nothing known",
        "    doubt  what the arguments of frob mean is not known",
        "    doubt  may start rm",
        "",
        " 4  > out",
        "    runs   always",
        "    does   nothing known, perhaps",
        "    write  out… (not known before it runs)",
        "",
        "    the call as a whole",
        "    delete  /tmp/x (with all below it, a pattern)",
        "",
        "flows",
        "    stdout of 1 → stdin of 2",
        "    /home/dev/project/a → stdin of 1",
        "    stdout of 2 → x.example",
    ]


def test_words_are_drawn_as_they_would_be_typed_and_a_part_names_its_whole(
    capsys: pytest.CaptureFixture[str],
) -> None:
    code = main(["facts", "bash -c 'rm -r \"$x\" *.o'; echo $(curl a.example)"])
    out = capsys.readouterr().out

    assert code == 0
    assert " 1  bash -c 'rm -r \"$x\" *.o'\n" in out
    assert " 2  rm -r … *.o\n" in out
    assert " 4  curl a.example\n    runs      always\n    part of   3\n" in out
    assert "(a name; where it leads is not known)" in out


def test_every_status_and_issue_has_words() -> None:
    assert (set(STATUS), set(ISSUES)) == (set(Status), set(Issue))


def test_facts_of_one_command_are_drawn(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["facts", "cat a", "--cwd", "/w"])
    out = capsys.readouterr().out

    assert (code, out.splitlines()[0]) == (0, "cwd    /w")
    assert " 1  cat a\n" in out
    assert "/w/a" in out


def test_facts_as_json_are_the_batch_line(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["facts", "cat a", "--json"]) == 0
    one = json.loads(capsys.readouterr().out)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b'{"id": null, "command": "cat a"}\n')))
    assert main(["facts", "--jsonl"]) == 0

    assert json.loads(capsys.readouterr().out) == one
    assert {"id", "status", "issues", "commands", "paths", "network", "flows", "enforcement_eligible"} <= set(
        one
    )


@pytest.mark.parametrize("words", [[], ["ls", "--jsonl", "-"]])
def test_it_takes_a_command_or_lines_not_both(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["facts", *words]), capsys.readouterr().err) == (
        2,
        "latchctl: give either a COMMAND or --jsonl\n",
    )


def test_a_missing_file_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["facts", "--jsonl", "/nonexistent/rows"]), capsys.readouterr().err) == (
        1,
        "latchctl: `/nonexistent/rows`: no such file or directory\n",
    )
