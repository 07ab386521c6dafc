"""Programs that run a command once per item, and what stands for the item."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import Unwrapped
from latchd.shell.listing import Input
from latchd.shell.runners import fd, find, parallel, xargs


def words(*values: str) -> tuple[Argument, ...]:
    return tuple(Argument(value, globs="*" in value) for value in values)


def commands(found: Unwrapped) -> list[str]:
    """Each child as one line, holes as `$`; code as it is."""
    return [
        (" ".join(word.value for word in child.words) if child.words is not None else child.code)
        .replace("\0", "$")
        .replace("\x01", "$")
        for child in found.children
    ]


@pytest.mark.parametrize(
    ("given", "text", "expected"),
    [
        (("xargs", "rm"), None, ["rm $"]),
        (("xargs",), None, ["echo $"]),
        (("xargs", "rm", "-f"), "a b\nc\n", ["rm -f a b c"]),
        (("xargs", "-n1", "rm"), "a b", ["rm $"]),
        (("xargs", "-I{}", "mv", "{}", "{}.old"), None, ["mv $ $.old"]),
        (("xargs", "-I", "X", "mv", "X", "y"), None, ["mv $ y"]),
        (("xargs", "-J", "X", "mv", "X", "y"), None, ["mv $ y"]),
        (("xargs", "-i", "sh", "-c", "rm {}"), None, ["sh -c rm $"]),
        (("xargs", "--replace=Y", "rm", "Y"), None, ["rm $"]),
        (("xargs", "-0", "-P", "4", "--max-args=1", "rm"), None, ["rm $"]),
        (("xargs", "--help"), None, []),
    ],
)
def test_xargs_puts_its_input_where_the_words_say(
    given: tuple[str, ...], text: str | None, expected: list[str]
) -> None:
    assert commands(xargs(words(*given), Input(True, text))) == expected


def test_an_option_that_xargs_does_not_know_is_a_doubt() -> None:
    assert xargs(words("xargs", "-Z", "rm"), Input(True)).issues == (Issue.UNKNOWN_OPERAND_GRAMMAR,)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("find", "a", "-exec", "rm", "{}", ";"), ["rm a/$"]),
        (("find", "a", "b/", "-exec", "rm", "{}", "+"), ["rm a/$ b/$"]),
        (("find", "-exec", "rm", "{}", ";"), ["rm ./$"]),
        (("find", ".", "-exec", "sh", "-c", "rm {}", ";"), ["sh -c rm $"]),
        (("find", ".", "-exec", "a", ";", "-execdir", "b", ";"), ["a", "b"]),
        (("find", ".", "-name", "-exec"), []),
        (("find", ".", "-ok", "rm", "{}"), ["rm ./$"]),
    ],
)
def test_find_runs_what_stands_up_to_the_end_mark(given: tuple[str, ...], expected: list[str]) -> None:
    assert commands(find(words(*given), Input())) == expected


def test_what_find_and_fd_run_depends_on_what_they_find() -> None:
    (found,) = find(words("find", "-exec", "a", ";"), Input()).children
    (also,) = fd(words("fd", "-x", "a"), Input()).children

    assert (found.reach, also.reach) == (Reach.CONDITIONAL, Reach.CONDITIONAL)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("fd", "-e", "o", "-x", "rm"), ["rm $"]),
        (("fd", "-X", "tar", "cf", "a.tar", "{}"), ["tar cf a.tar $"]),
        (("fd", "x"), []),
    ],
)
def test_fd_runs_the_words_behind_its_option(given: tuple[str, ...], expected: list[str]) -> None:
    assert commands(fd(words(*given), Input())) == expected


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (("parallel", "rm", ":::", "a", "b"), ["rm a", "rm b"]),
        (("parallel", "-j", "4", "rm {}", ":::", "a b"), ["rm 'a b'"]),
        (("parallel", "mv {1} {2}", ":::", "a", ":::", "b"), ["mv a b"]),
        (("parallel", "mv {1} {2}", ":::", "a", "c", ":::+", "b", "d"), ["mv a b", "mv c d"]),
        (("parallel", ":::", "a b", "c"), ["a b", "c"]),
        (("parallel", "rm {}"), ['rm "$_"']),
        (("sem", "-j1", "rm", "a"), ['rm a "$_"']),
    ],
)
def test_parallel_puts_each_value_into_its_template(given: tuple[str, ...], expected: list[str]) -> None:
    assert commands(parallel(words(*given), Input())) == expected


def test_lines_that_parallel_takes_for_commands_are_opaque() -> None:
    found = parallel(words("parallel"), Input(True))

    assert (found.issues, found.runs_input) == ((Issue.OPAQUE_ARTIFACT,), True)
