"""Extended patterns are read as patterns where they stand in arguments, and left alone anywhere else."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Status
from latchd.shell.extglob import plain_patterns
from latchd.shell.facts import analyze


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("rm -rf !(keep)", "rm -rf *"),
        ("cp a/@(b|c).txt d?(e)+(f) 'g h'*(i)", "cp a/*.txt d** 'g h'*"),
        ("rm !(a|@(b|c))", "rm *"),
        ("echo \"?(a)\" '!(b)' ?(d) \\?(c)", "echo \"?(a)\" '!(b)' * \\?(c)"),
        ("for i in !(x); do rm $i; done", "for i in *; do rm $i; done"),
    ],
)
def test_a_pattern_in_an_argument_becomes_a_plain_one(text: str, plain: str) -> None:
    assert plain_patterns(text) == plain


@pytest.mark.parametrize(
    "text",
    [
        "!(rm a)",
        "a && !(rm b); ! !(c)",
        "if !(a); then !(b); fi",
        "time -p !(a)",
        "echo $!(a) $@(b) $?(c)",
        "ls !(a b) !($(c)) !()",
        "ls !(a) # don't",
        "cat <<E !(a)\n'\nE",
    ],
)
def test_what_may_be_no_pattern_stays(text: str) -> None:
    assert plain_patterns(text) == text


def test_all_but_one_is_a_removal_by_pattern() -> None:
    facts = analyze("shopt -s extglob; rm -rf build/!(keep)", cwd="/w", home="/h")

    removed = [(path.value, path.globs, path.recursive) for path in facts.paths if path.access == "delete"]
    assert (facts.status, removed) == (Status.COMPLETE, [("build/*", True, True)])
