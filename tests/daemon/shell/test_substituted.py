"""A substitution whose output is known stands for it where that is what runs, and is a hole elsewhere."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Status
from latchd.shell.facts import analyze


def ran(text: str) -> list[tuple[str, ...]]:
    """The words of all commands but those that only print."""
    facts = analyze(text, cwd="/w", home="/h")
    printers = ("echo", "printf", "base64")
    return [command.argv for command in facts.commands if command.program not in printers]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("$(echo mk) a", [("mk", "a")]),
        ("$(echo 'mk  a' b)", [("mk", "a", "b")]),
        ('"$(echo "mk  a")"', [("mk  a",)]),
        ("$(printf 'm%s\\n' k) a", [("mk", "a")]),
        ("$(echo mk | rev | rev) a", [("mk", "a")]),
        ("$(echo bWs= | base64 -d) a", [("mk", "a")]),
        ("`echo mk` a", [("mk", "a")]),
        ("$(echo $(echo mk)) a", [("mk", "a")]),
        ("x=mk; $(echo $x) a", [("mk", "a")]),
        ("x=$(echo mk); $x a", [("mk", "a")]),
        ("x=$(echo mk | base64 -w); $x a", [("\0", "a")]),
        ('$(echo mk "$y")', [("mk", "\0")]),
        ("$(echo *) a", [("\0", "a")]),
        ("$(echo mk; echo a)", [("\0",)]),
        ("$(echo mk >f) a", [("\0", "a")]),
        ("$(cat f) a", [("\0", "a"), ("cat", "f")]),
        ("$(echo 'm\\ck') a", [("\0", "a")]),  # shells differ in what they print
        ("ls $(echo a)", [("ls", "\0")]),
        ("ls a$(echo b)", [("ls", "a\0")]),
        ('eval "ls $(echo a)"', [("eval", "ls a"), ("ls", "a")]),
        ('sh -c "$(echo ls a)"', [("sh", "-c", "ls a"), ("ls", "a")]),
        ("echo() { ls; }; $(echo mk)", [("\0",), ("ls",)]),
        ("alias echo=ls; $(echo mk)", [("alias", "echo=ls"), ("ls",), ("\0",), ("ls", "mk")]),
        ("IFS=k; $(echo mk) a", [("\0", "a")]),
    ],
)
def test_a_command_is_what_its_substitutions_print(text: str, expected: list[tuple[str, ...]]) -> None:
    assert [argv for argv in ran(text) if argv[0] != "rev"] == expected


@pytest.mark.parametrize(
    "text",
    [
        "bash <(echo mk a)",
        "sudo bash <(echo mk a)",
        ". <(printf 'mk a')",
        "bash < <(echo mk a)",
        "cat <(echo mk a) | sh",
        "echo mk a | tee >(sh)",
        "echo mk a > >(sh)",
        'sh <<< "$(echo mk a)"',
        "sh <<E\n$(echo mk a)\nE\n",
    ],
)
def test_a_shell_that_reads_a_stream_runs_what_is_known_to_be_in_it(text: str) -> None:
    facts = analyze(text, cwd="/w", home="/h")

    assert (facts.status, [command.argv for command in facts.commands if command.program == "mk"]) == (
        Status.COMPLETE,
        [("mk", "a")],
    )


@pytest.mark.parametrize(
    "text",
    [
        "bash <(cat f)",
        "bash -s <(echo mk a)",
        "bash --rcfile <(echo mk a) -i",
        "echo mk a | tee >(cat; sh)",
        "ls > >(sh)",
        "echo mk a 2> >(sh)",
    ],
)
def test_a_shell_that_reads_an_unknown_stream_is_a_doubt(text: str) -> None:
    assert analyze(text, cwd="/w", home="/h").status is not Status.COMPLETE


def test_the_script_of_a_stream_gets_the_words_behind_it() -> None:
    facts = analyze("bash <(echo 'mk $1') a", cwd="/w", home="/h")

    assert [command.argv for command in facts.commands if command.program == "mk"] == [("mk", "a")]


def test_so_many_substitutions_are_followed_and_no_more() -> None:
    facts = analyze("eval " + " ".join(["$(echo a)"] * 200), cwd="/w", home="/h")

    assert facts.commands[0].argv[1:].count("a") == 128


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{mk,a,b}", ("mk", "a", "b")),
        ("{mk,{a,b}}", ("mk", "a", "b")),
        ("{{mk,a},b}", ("mk", "a", "b")),
        ("x=1 {mk,$y}", ("mk", "\0")),
        ("{'mk',\"a\"}", ("mk", "a")),
        ("{a..c} d", ("a", "b", "c", "d")),
        ("if {mk,a}; then :; fi", ("mk", "a")),
        ("{ {mk,a}; }", ("mk", "a")),
        ("$(echo {mk,a})", ("mk", "a")),
    ],
)
def test_braces_make_the_words_of_a_command(text: str, expected: tuple[str, ...]) -> None:
    facts = analyze(text, cwd="/w", home="/h")

    assert (facts.status, facts.commands[0].argv) == (Status.COMPLETE, expected)
