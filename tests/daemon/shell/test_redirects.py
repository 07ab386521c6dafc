"""Redirections → facts of their command, and what stands on its stdin."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Access, Redirect, Status
from latchd.shell.facts import analyze
from latchd.shell.redirects import is_descriptor

READ, WRITE, APPEND = Access.READ, Access.WRITE, Access.APPEND


def redirects(text: str) -> tuple[Redirect, ...]:
    (command,) = analyze(text, cwd="/w", home="/home/u").commands
    return command.redirects


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a > f", (Redirect(1, WRITE, "f"),)),
        ("a >| f", (Redirect(1, WRITE, "f"),)),
        ("a >> f", (Redirect(1, APPEND, "f"),)),
        ("a < f", (Redirect(0, READ, "f"),)),
        ("a 2> f", (Redirect(2, WRITE, "f"),)),
        ("a &> f", (Redirect(-1, WRITE, "f"),)),
        ("a &>> f", (Redirect(-1, APPEND, "f"),)),
        ("a >& f", (Redirect(-1, WRITE, "f"),)),
        ("a 12>f", (Redirect(12, WRITE, "f"),)),
        ("> f a", (Redirect(1, WRITE, "f"),)),
        ("a > f 2>&1", (Redirect(1, WRITE, "f"), Redirect(2, WRITE, ""))),
        ("a 2>&-", (Redirect(2, WRITE, ""),)),
        ("> f", (Redirect(1, WRITE, "f"),)),
        ("a <> f", (Redirect(0, READ, "f"), Redirect(0, WRITE, "f"))),
        ("a > 'f g'", (Redirect(1, WRITE, "f g"),)),
        ("a > $x", (Redirect(1, WRITE, "\0", expands=True),)),
        ("a > ~/f", (Redirect(1, WRITE, "/home/u/f"),)),
        ("a > /dev/tcp/h/1", (Redirect(1, WRITE, "/dev/tcp/h/1"),)),
    ],
)
def test_each_operator_opens_its_descriptor_as_bash_does(text: str, found: tuple[Redirect, ...]) -> None:
    assert redirects(text) == found


@pytest.mark.parametrize(
    ("text", "argv"),
    [
        ("a > f b", ("a", "b")),
        ("> f a b", ("a", "b")),
        ("a 2>f b", ("a", "b")),
        ("a b2>f", ("a", "b2")),
        ("a <<< x b", ("a", "b")),
    ],
)
def test_a_word_behind_a_target_belongs_to_the_command(text: str, argv: tuple[str, ...]) -> None:
    (command,) = analyze(text).commands
    assert command.argv == argv


@pytest.mark.parametrize(
    "text",
    [
        "sh <<'E'\nrm x\nE\n",
        "sh <<E\nrm x\nE\n",
        "sh <<-E\n\trm x\n\tE\n",
        "sh <<< 'rm x'",
        "y=x; sh <<E\nrm $y\nE\n",
        "sh < <(echo rm x)",
    ],
)
def test_what_stands_on_the_stdin_of_a_shell_is_run(text: str) -> None:
    assert [command.argv for command in analyze(text, cwd="/w").commands if command.program == "rm"] == [
        ("rm", "x")
    ]


@pytest.mark.parametrize("text", ["sh < f", 'sh <<< "$x"', "{ sh; sh; } <<< 'rm x'", "sh 3<<< 'rm x'"])
def test_a_shell_whose_stdin_is_not_known_is_never_complete(text: str) -> None:
    facts = analyze(text, cwd="/w")
    assert ({command.program for command in facts.commands} - {""}, facts.status is Status.COMPLETE) == (
        {"sh"},
        False,
    )


@pytest.mark.parametrize("text", ["a > $(b)", "a <<< $(b)", "a <<E\n$(b)\nE\n", "a > f$(b)"])
def test_code_in_a_redirection_runs(text: str) -> None:
    assert sorted(command.program for command in analyze(text).commands) == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "descriptor"),
    [("0", True), ("12", True), ("0000000000001", True), ("9999999999", False), ("x", False), ("١", False)],
)
def test_only_a_number_that_fits_is_a_descriptor(text: str, descriptor: bool) -> None:
    assert is_descriptor(text) is descriptor
