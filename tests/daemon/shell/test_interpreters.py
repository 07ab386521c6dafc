"""Shell commands inside other languages' code."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument
from latchd.shell.embedded_code import Embedded, Fed
from latchd.shell.interpreters import embedded, option_words
from latchd.shell.parse import HOLE


def found(*words: str, stdin: str | None = None) -> Embedded:
    return embedded(words[0], tuple(Argument(word) for word in words), stdin)


@pytest.mark.parametrize(
    ("words", "codes"),
    [
        (("awk", 'BEGIN{system("a b")}'), ("a b",)),
        (("awk", "-v", "c=a b", "BEGIN{system(c)}"), ("a b",)),
        (("awk", 'BEGIN{c="a " "b"; system(c)}'), ("a b",)),
        (("awk", '{system("a " $1)}'), ("a \x01",)),
        (("awk", '{system("a " $1 "; b")}'), ("a \x01; b",)),
        (("sed", "s/x/a &/e"), ("a \x01",)),
        (("psql", "-c", "\\! a b"), ("a b",)),
        (("sqlite3", "f.db", ".shell a b"), ("a b",)),
        (("mysql", "-e", "use x; system a b"), ("a b",)),
        (("make", "--eval=x:;a $@"), ("a \x01",)),
        (("gdb", "-ex", "shell a b"), ("a b",)),
        (("awk", '"date" | getline x'), ("date",)),
        (("sed", "1e a b"), ("a b",)),
        (("sed", "-n", "-e", "$!N;e a"), ("a",)),
        (("tar", "xf", "t", "--checkpoint-action=exec=a b"), ("a b",)),
        (("tar", "-I", "zstd -T0", "-xf", "t"), ("zstd -T0",)),
        (("sort", "--compress-program=a"), ("a",)),
        (("mapfile", "-C", "a", "x"), ("a",)),
        (("vim", "-c", "!a b", "f"), ("a b",)),
        (("perl", "-e", "print qx{a /b/c}"), ("a /b/c",)),
        (("perl", "-e", "qx {a ${b} c}; qx(a (b) c)"), ("a ${b} c", "a (b) c")),
        (("perl", "-e", "qx|a b|; qx'c'; qx<d>"), ("a b", "c", "d")),
        (("perl", "-e", "qx{a"), ()),
        (("perl", "-e", "qx{" + "a" * 3000 + "}"), ("\x01",)),
        (("ruby", "-e", "%x(a /b); x = 5 %x"), ("a /b",)),
    ],
)
def test_literal_code_is_found(words: tuple[str, ...], codes: tuple[str, ...]) -> None:
    assert found(*words).codes == codes


@pytest.mark.parametrize(
    ("program", "fed"),
    [
        ('{print $1 | "sort -u"}', Fed("sort -u")),
        ('BEGIN{print "a b" | "sh"}', Fed("sh", "a b\n")),
        ('{print "a " $1 | "sh" x}', Fed("sh\x01")),
        ('BEGIN{printf "%s", "a" | "sh"}', Fed("sh")),
    ],
)
def test_what_awk_prints_to_a_command_is_its_stdin(program: str, fed: Fed) -> None:
    assert found("awk", program) == Embedded(fed=(fed,))


@pytest.mark.parametrize(
    "program",
    [
        'function f(c) { system(c) } BEGIN { c = "a"; f("b") }',
        '{ c = "a"; c = c "b"; system(c) }',
        '{ c = "a"; getline c; system(c) }',
        '{ c = "a"; sub(/a/, "b", c); system(c) }',
    ],
)
def test_an_awk_name_with_a_second_value_is_not_known(program: str) -> None:
    assert found("awk", program) == Embedded((HOLE,), opaque=True)


def test_a_command_line_that_a_program_splits_by_itself_is_words() -> None:
    words = tuple(Argument(word) for word in ("rsync", "-e", "ssh -p \0", "--rsh=a b", "-eb c", "x", "y:"))

    found = [[word.value for word in split] for split in option_words("rsync", words)]

    assert found == [["ssh", "-p", "\0"], ["a", "b"], ["b", "c"]]


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
        ("vim", "-c", "wq!", "+q!", "f"),
        ("vim", "-c", "%s/!=/==/g", "f"),
        ("psql", "-c", "select '!'"),
        ("make", "-j4", "CC=gcc"),
        ("less", "+G", "f"),
        ("mysql", "-e", "select system from x"),
    ],
)
def test_code_that_starts_nothing_has_none(words: tuple[str, ...]) -> None:
    assert found(*words) == Embedded()


@pytest.mark.parametrize(
    "words",
    [
        ("awk", "{system($1)}"),
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
