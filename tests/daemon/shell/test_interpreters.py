"""Shell commands inside other languages' code."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.interpreters import Embedded, embedded


def found(*words: str, stdin: str | None = None) -> Embedded:
    return embedded(words[0], tuple(Argument(word) for word in words), stdin)


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("awk", 'BEGIN{system("a b")}'), ("a b",)),
        (("awk", "-F:", '{print $1 | "sort -u"}'), ("sort -u",)),
        (("awk", '"date" | getline x'), ("date",)),
        (("sed", "1e a b"), ("a b",)),
        (("sed", "-n", "-e", "$!N;e a"), ("a",)),
        (("tar", "xf", "t", "--checkpoint-action=exec=a b"), ("a b",)),
        (("tar", "-I", "zstd -T0", "-xf", "t"), ("zstd -T0",)),
        (("sort", "--compress-program=a"), ("a",)),
        (("mapfile", "-C", "a", "x"), ("a",)),
        (("rsync", "-e", "ssh -p 2", "a", "b"), ("ssh -p 2",)),
        (("vim", "-c", "!a b", "f"), ("a b",)),
    ],
)
def test_literal_code_is_found(words: tuple[str, ...], codes: tuple[str, ...]) -> None:
    assert found(*words) == Embedded(codes)


@pytest.mark.parametrize(
    "words",
    [
        ("awk", "{print $1}"),
        ("awk", '/a|b/ {print "c | d"}'),
        ("sed", "s/a/b/g"),
        ("sed", "/re/d;s|e|f|"),
        ("sed", "-e", "s/[/]e/x/", "-e", "y/abc/def/"),
        ("sed", "a\\text with e"),
        ("python3", "-c", "print(1)"),
        ("perl", "-pe", "s/a/b/"),
        ("tar", "czf", "a.tgz", "b"),
        ("ls", "-e"),
    ],
)
def test_code_that_starts_nothing_has_none(words: tuple[str, ...]) -> None:
    assert found(*words) == Embedded()


@pytest.mark.parametrize(
    "words",
    [
        ("awk", "{system($1)}"),
        ("awk", '{print "a " $1 | "sh" x}'),
        ("sed", "s/a/b/e"),
        ("python3", "-c", "import subprocess; subprocess.run(x)"),
        ("perl", "-e", "`$x`"),
        ("node", "-e", "require('child_process').exec(x)"),
    ],
)
def test_code_that_starts_what_can_not_be_read_is_opaque(words: tuple[str, ...]) -> None:
    assert found(*words).opaque


def test_a_program_on_literal_stdin_is_read() -> None:
    assert found("python3", "-", stdin="import os\nos.system('a')").opaque or found(
        "python3", stdin="import os\nos.system('a')"
    ) == Embedded(("a",), True)
