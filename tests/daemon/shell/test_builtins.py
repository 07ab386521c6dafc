"""What builtins do to the line after them."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Issue, Status
from latchd.shell.builtins import evaluates
from latchd.shell.facts import analyze


def last(text: str) -> tuple[str, ...]:
    """The words of the last command."""
    return analyze(text, cwd="/w", home="/home/u").commands[-1].argv


def touched(text: str) -> set[str]:
    """Where the paths of the last command lie; "" = not known."""
    facts = analyze(text, cwd="/w", home="/home/u")
    return {path.resolved for path in facts.paths if path.command_id == facts.commands[-1].id}


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("cd a && rm x", {"/w/a/x"}),
        ("cd -P a && rm x", {"/w/a/x"}),
        ("cd -- a && rm x", {"/w/a/x"}),
        ("cd && rm x", {"/home/u/x"}),
        ("cd ~ && rm x", {"/home/u/x"}),
        ("cd - && rm x", {""}),
        ("cd $a && rm x", {""}),
        ("cd a* && rm x", {""}),
        ("cd a b && rm x", {""}),
        ("CDPATH=/v; cd a && rm x", {""}),
        ("CDPATH=/v; cd ./a && rm x", {"/w/a/x"}),
        ("pushd a && rm x", {"/w/a/x"}),
        ("pushd +1 && rm x", {""}),
        ("popd && rm x", {""}),
    ],
)
def test_a_directory_is_known_where_its_name_is(text: str, places: set[str]) -> None:
    assert touched(text) == places


@pytest.mark.parametrize(
    "text",
    [
        "x=a; read x; rm $x",
        "x=a; read -r y x; rm $x",
        "x=a; unset x; rm $x",
        "x=a; printf -v x b; rm $x",
        "x=a; let x=1; rm $x",
        "x=a; mapfile x; rm $x",
        "x=a; getopts ab x; rm $x",
        "x=a; . ./f; rm $x",
    ],
)
def test_a_name_that_a_builtin_may_set_is_not_known_after_it(text: str) -> None:
    assert last(text) == ("rm", "\0")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("set -- a b; rm $1", ("rm", "a")),
        ("set a b; rm $2", ("rm", "b")),
        ("set -- a b; shift; rm $1", ("rm", "b")),
        ("set -- a b; rm $@", ("rm", "a", "b")),
        ('set -- a b; rm "$*"', ("rm", "a b")),
        ("set -- a; set -e; rm $1", ("rm", "a")),
        ("set -- $x b; rm $2", ("rm", "\0")),
        ("export x=a; rm $x", ("rm", "a")),
        ("readonly x=a; rm $x", ("rm", "a")),
    ],
)
def test_words_that_are_set_are_the_words_of_what_follows(text: str, words: tuple[str, ...]) -> None:
    assert last(text) == words


@pytest.mark.parametrize(
    ("text", "issue"),
    [
        ("alias a='rm x'; a", Issue.DYNAMIC_WORD),
        ("enable -f ./x.so x", Issue.OPAQUE_ARTIFACT),
        ("hash -p /tmp/x ls", Issue.UNSUPPORTED_CONSTRUCT),
        ("bind -x 'a'", Issue.UNSUPPORTED_CONSTRUCT),
        ("complete -C a b", Issue.UNSUPPORTED_CONSTRUCT),
    ],
)
def test_what_a_builtin_may_make_run_is_never_complete(text: str, issue: Issue) -> None:
    facts = analyze(text, cwd="/w")
    assert (facts.status is not Status.COMPLETE, issue in facts.issues) == (True, True)


@pytest.mark.parametrize("text", ["alias a='rm x'", "bind -x '\"\\C-x\": rm x'"])
def test_what_waits_for_its_name_or_key_is_listed(text: str) -> None:
    assert last(text) == ("rm", "x")


@pytest.mark.parametrize(
    ("words", "formula"),
    [
        ("let x", True),
        ("test a -eq b", True),
        ("[ -v a ]", True),
        ("test -f a", False),
        ("printf -v a[b] c", True),
        ("printf a[b]", False),
        ("read a[b]", True),
        ("read a", False),
        ("unset a[b]", True),
        ("echo a[b]", False),
    ],
)
def test_a_builtin_that_takes_a_name_evaluates_the_subscript_in_it(words: str, formula: bool) -> None:
    assert evaluates(tuple(map(Argument, words.split()))) is formula
