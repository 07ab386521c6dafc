"""Statements → which commands run, when, and with whose output."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Issue, Reach, Status
from latchd.shell.facts import analyze

ALWAYS, CONDITIONAL = Reach.ALWAYS, Reach.CONDITIONAL
BACKGROUND, DEFERRED = Reach.BACKGROUND, Reach.DEFERRED


def listed(text: str) -> list[tuple[str, Reach]]:
    """Each command's words with its reach, in order; of facts that are complete."""
    facts = analyze(text, cwd="/w", home="/home/u")
    assert (facts.status, facts.issues) == (Status.COMPLETE, ())
    return [(" ".join(command.argv), command.reach) for command in facts.commands]


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("a; b\nc", [("a", ALWAYS), ("b", ALWAYS), ("c", ALWAYS)]),
        ("a && b", [("a", ALWAYS), ("b", CONDITIONAL)]),
        ("a || b", [("a", ALWAYS), ("b", CONDITIONAL)]),
        ("a | b", [("a", ALWAYS), ("b", ALWAYS)]),
        ("a & b", [("a", BACKGROUND), ("b", ALWAYS)]),
        ("! a", [("a", ALWAYS)]),
        ("(a; b)", [("a", ALWAYS), ("b", ALWAYS)]),
        ("{ a; b; }", [("a", ALWAYS), ("b", ALWAYS)]),
        ("time a", [("a", ALWAYS)]),
        (
            "if a; then b; elif c; then d; else e; fi",
            [("a", ALWAYS), ("b", CONDITIONAL), ("c", CONDITIONAL), ("d", CONDITIONAL), ("e", CONDITIONAL)],
        ),
        ("while a; do b; done", [("a", ALWAYS), ("b", CONDITIONAL)]),
        ("until a; do b; done", [("a", ALWAYS), ("b", CONDITIONAL)]),
        ("case x in y) a;; *) b;; esac", [("a", CONDITIONAL), ("b", CONDITIONAL)]),
        ("[[ -f x ]] && a", [("a", CONDITIONAL)]),
        ("f() { a; }", [("a", DEFERRED)]),
        ("trap 'a' EXIT", [("trap a EXIT", ALWAYS), ("a", DEFERRED)]),
    ],
)
def test_every_command_is_listed_with_how_surely_it_runs(
    text: str, commands: list[tuple[str, Reach]]
) -> None:
    assert listed(text) == commands


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("for x in a b; do rm $x; done", ["rm a", "rm b"]),
        ("f() { rm $1; }; f a", ["f a", "rm a"]),
        ("x=a; if b; then x=c; fi; rm $x", ["b", "rm \0"]),
        ("x=a; (x=b); rm $x", ["rm a"]),
        ("x=a; x=b | c; rm $x", ["c", "rm a"]),
        ("x=a; { x=b; }; rm $x", ["rm b"]),
        ("x=a; while b; do x=$x$x; done; rm $x", ["b", "rm \0"]),
    ],
)
def test_a_value_is_what_every_way_to_the_command_agrees_on(text: str, words: list[str]) -> None:
    assert [" ".join(command.argv) for command in analyze(text, cwd="/w").commands] == words


@pytest.mark.parametrize(
    ("text", "pipelines"),
    [
        ("a | b | c", {"a": 1, "b": 1, "c": 1}),
        ("a; b", {"a": 0, "b": 0}),
        ("a | (b; c)", {"a": 1, "b": 1, "c": 1}),
        ("a | b; c | d", {"a": 1, "b": 1, "c": 2, "d": 2}),
    ],
)
def test_commands_that_share_a_pipe_share_its_number(text: str, pipelines: dict[str, int]) -> None:
    assert {command.program: command.pipeline for command in analyze(text).commands} == pipelines


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("cd a && rm x", {"/w/a/x"}),
        ("cd a; rm x", {"/w/a/x", "/w/x"}),
        ("set -e; cd a; rm x", {"/w/a/x"}),
        ("(cd a && b); rm x", {"/w/x"}),
        ("cd a || exit; rm x", {"/w/a/x"}),
        ("cd a & rm x", {"/w/x"}),
    ],
)
def test_a_path_lies_below_each_directory_that_the_line_may_be_in(text: str, places: set[str]) -> None:
    facts = analyze(text, cwd="/w", home="/home/u")
    remover = next(command.id for command in facts.commands if command.program == "rm")
    assert {path.resolved for path in facts.paths if path.command_id == remover} == places


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("if a; then b", Issue.INVALID_SYNTAX),
        ("a; }", Issue.PARSER_SILENCE),
        ("$x", Issue.DYNAMIC_WORD),
    ],
)
def test_what_can_not_be_listed_is_said(text: str, issue: Issue) -> None:
    facts = analyze(text)
    assert facts.status is not Status.COMPLETE
    assert issue in facts.issues
