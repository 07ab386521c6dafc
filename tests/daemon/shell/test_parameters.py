"""$1, "$@" and kin are what a shell or a function is called with, wherever that is known."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Reach, Status
from latchd.shell.facts import analyze


def ran(text: str) -> list[tuple[str, ...]]:
    """The words of `mk` in each of its commands."""
    facts = analyze(text, cwd="/w", home="/h")
    return [command.argv[1:] for command in facts.commands if command.program == "mk"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("sh -c 'mk \"$1\" $2' _ 'a b' 'c d'", [("a b", "c", "d")]),
        ("sh -c 'mk \"$@\"' _ 'a b' c", [("a b", "c")]),
        ("sh -c 'mk $@' _ 'a b' c", [("a", "b", "c")]),
        ("sh -c 'mk \"$*\"' _ 'a b' c", [("a b c",)]),
        ("sh -c 'mk \"x$@y\"' _ a b", [("xa", "by")]),
        ("sh -c 'mk \"$@\"' _", [()]),
        ('sh -c \'mk "$0" "$3"\' n a', [("n", "")]),
        ("sh -c 'mk ${10} ${1}' _ 1 2 3 4 5 6 7 8 9 10", [("10", "1")]),
        ('sh -c \'mk "$1"\' _ "$x"', [("\0",)]),
        ("sh -c 'mk \"$2\"' _ $x b", [("\0",)]),
        ("sh -c 'mk \"$@\"' _ *.o", [("*.o",)]),
        ("sh -c 'mk \"$1\"' _ *.o", [("\0",)]),
        ("sh -c 'shift; mk \"$1\"' _ a b", [("b",)]),
        ("sh -c 'shift 2; mk \"$@\"' _ a b c", [("c",)]),
        ("sh -c 'shift $n; mk \"$1\"' _ a b", [("\0",)]),
        ("sh -c 'if x; then shift; fi; mk \"$1\"' _ a b", [("\0",)]),
        ("sh -c 'x && shift; mk \"$1\"' _ a b", [("\0",)]),
        ("sh -c '(shift); mk \"$1\"' _ a b", [("a",)]),
        ("sh -c 'while x; do mk \"$1\"; shift; done' _ a b", [("\0",)]),
        ("sh -c 'for i; do mk $i; done' _ a b", [("a",), ("b",)]),
        ("sh -c 'mk ${1:-x}' _ a", [("\0",), ("a",)]),
        ("sh -c 'IFS=:; mk $1' _ a:b", [("\0",)]),
        ('set -- a b; mk "$@"', [("a", "b")]),
        ("set -- a b; if x; then shift; fi; mk $1", [("\0",)]),
        ("set -- a b; while x; do mk $1; shift; done", [("\0",)]),
        ("if x; then set -- a; fi; set -- b; mk $1", [("\0",)]),
        ("f() if x; then shift; fi; f a", []),
        ("f() if x; then shift; mk $1; fi; f a b", [("\0",)]),
        ("f() { for i; do shift; done; }; set -- a; f b; mk $1", [("a",)]),
        ("set a b; mk $2", [("b",)]),
        ("set -eo pipefail -- a; mk $1", [("a",)]),
        ("set -e; mk $1", [("\0",)]),
        ('set -- a; set --; mk "$@"', [()]),
        ("set $x; mk $1", [("\0",)]),
        ('coproc set -- a; mk "$1"', [("\0",)]),
        ("eval 'set -- a'; mk $1", [("a",)]),
        ('mk $1 "$@"', [("\0", "\0")]),
        ("bash -s -- a <<< 'mk $1'", [("a",)]),
        ("ssh h 'sh -c \"mk \\$1\" _ a'", [("a",)]),
    ],
)
def test_a_shell_gets_its_words(text: str, expected: list[tuple[str, ...]]) -> None:
    assert ran(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('f() { mk "$1"; }; f a', [("a",)]),
        ('f() { mk "$1"; }; f a; f b', [("a",), ("b",)]),
        ('f() { mk "$@"; }; f "$x" b', [("\0", "b")]),
        ('f() { g "$2" "$1"; }; g() { mk "$@"; }; f a b', [("b", "a")]),
        ("x=a; f() { mk $x; }; f", [("a",)]),
        ('x=a; f() { local x; mk "$x"; }; f', [("\0",)]),
        ("x=a; f() { x=$1; }; f b; mk $x", [("\0",)]),
        ("f() { if y; then set -- b; fi; mk $1; }; f a", [("\0",)]),
    ],
)
def test_a_function_gets_the_words_of_its_call(text: str, expected: list[tuple[str, ...]]) -> None:
    assert ran(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        'f() { mk "$1"; }',
        'f() { mk "$1"; y && f b; }; f a',  # it calls itself with other words
        'f() { mk "$1"; }; f a; complete -F f cmd',
        'f() { mk "$1"; }; export -f f; f a',
        'f() { mk "$1"; }; f a; if y; then f() { q; }; fi; f b',  # either may be the one that is called
    ],
)
def test_a_function_that_may_be_called_otherwise_is_listed_with_unknown_words(text: str) -> None:
    facts = analyze(text, cwd="/w", home="/h")

    assert ("mk", "\0") in [command.argv for command in facts.commands if command.reach is Reach.DEFERRED]


def test_words_that_double_with_each_call_are_not_followed_for_ever() -> None:
    functions = [f'f{n}() {{ f{n + 1} "$@" "$@"; }}' for n in range(11)]
    facts = analyze("; ".join([*functions, 'f11() { mk "$@"; }', "f0 a b c d"]), cwd="/w", home="/h")

    assert max(len(command.argv) for command in facts.commands) == 65  # then they are two holes
    assert ("mk", "\0", "\0") in [command.argv for command in facts.commands]


def test_functions_that_call_two_more_stop_at_the_limit_of_commands() -> None:
    functions = [f"f{n}() {{ f{n + 1}; f{n + 1}; }}" for n in range(10)]
    facts = analyze("; ".join([*functions, "f10() { mk; }", "f0"]), cwd="/w", home="/h")

    assert facts.status is Status.LIMIT_EXCEEDED
    assert len(facts.commands) == 128


def test_a_branch_of_a_function_that_moves_is_no_longer_where_the_call_was() -> None:
    facts = analyze("f() { cd x; }; while y; do mk; f; done", cwd="/w", home="/h")
    assert facts.status is Status.COMPLETE

    later = analyze("f() { cd x; }; while y; do rm z; f; done", cwd="/w", home="/h")
    assert [path.resolved for path in later.paths if path.value == "z"] == [""]
