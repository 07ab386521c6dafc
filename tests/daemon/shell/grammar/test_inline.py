"""Literal code is read for what it touches; code that builds code is opaque."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Operation
from latchd.shell.grammar.code_source import MAX_CALLS, source
from latchd.shell.grammar.description import brief
from latchd.shell.grammar.inline import MAX_COMMANDS, inline
from latchd.shell.grammar.interpreters import run_child


def read(language: str, code: str) -> str:
    return brief(inline(language, Argument(value=code, expands="\0" in code), run_child))


@pytest.mark.parametrize(
    ("language", "code", "expected"),
    [
        ("python", "import os as o\no.remove('/x')", "execute delete delete:/x +inline-code"),
        ("python", "from shutil import rmtree as r; r('/x')", "execute delete delete:/x/** +inline-code"),
        ("python", "p = '/x'\nopen(p, mode='a')", "execute append append:/x +inline-code"),
        ("python", "import json; print(json.loads('{}'))", "execute +inline-code"),
        ("python", "# os.remove('/x')\nprint('os.remove(1)')", "execute +inline-code"),
        ("python", "open(f'/x/{n}', 'w')", "execute write write:/x/$ +inline-code"),
        ("python", "eval(x)", "execute +inline-code +opaque-code"),
        ("python", "import os; getattr(os, 'sys' + 'tem')('id')", "execute +inline-code +opaque-code"),
        ("python", "import os; os.environ['API_TOKEN']", "execute environment_read +inline-code"),
        ("python", "import os; os.environ['A'] = 'b'", "execute +inline-code"),
        ("node", "const p = '/x'; fs.writeFileSync(p, '')", "execute write write:/x +inline-code"),
        ("node", "// fs.rmSync('/x')\n1 + 1", "execute +inline-code"),
        ("node", "fs.rmSync(`/x/${n}`, {recursive: true})", "execute delete delete:/x/$/** +inline-code"),
        (
            "node",
            "require('fs').promises.rm('/x', {recursive: true})",
            "execute delete delete:/x/** +inline-code",
        ),
        ("node", "new Function(x)()", "execute +inline-code +opaque-code"),
        ("perl", "unlink('a', 'b')", "execute delete delete:a delete:b +inline-code"),
        (
            "perl",
            "print `rm -rf /x`",
            "execute delete delete:/x/** +inline-code +recursive +force +child-command",
        ),
        ("ruby", "FileUtils.mv('a', 'b')", "execute move write delete:a write:b +inline-code"),
    ],
)
def test_a_program_in_an_argument_is_read(language: str, code: str, expected: str) -> None:
    assert read(language, code) == expected


def test_code_with_a_dynamic_part_is_opaque() -> None:
    assert "+opaque-code" in read("python", "print('\0')")


def test_a_program_too_long_to_read_is_opaque() -> None:
    assert "+opaque-code" in read("python", "x = 1\n" * 12000)


@pytest.mark.parametrize(
    "code", ["a()\n" * (MAX_CALLS + 1), "f(x," * 9000, "f(1)+" * 9000], ids=["calls", "arguments", "tokens"]
)
def test_more_than_is_read_makes_a_program_opaque(code: str) -> None:
    read_whole = source(code, "python").whole

    assert (read_whole, "+opaque-code" in read("python", code)) == (False, True)


@pytest.mark.parametrize(
    ("code", "operations"),
    [
        ("bool(os.getenv('API_TOKEN'))", ()),
        ("os.getenv('API_TOKEN') is None", ()),
        ("bool(os.getenv('API_TOKEN')); os.getenv('API_TOKEN')", (Operation.ENVIRONMENT_READ,)),
        ("os.getenv('API_TOKEN') is not None or os.getenv('DB_PASSWORD')", (Operation.ENVIRONMENT_READ,)),
    ],
)
def test_asking_whether_a_secret_is_set_reads_none(code: str, operations: tuple[Operation, ...]) -> None:
    found = inline("python", Argument("import os; " + code), run_child)

    assert found.operations == (Operation.EXECUTE, *operations)


def test_commands_beyond_those_that_are_read_make_a_program_opaque() -> None:
    started = "import os\n" + "os.system('a')\n" * MAX_COMMANDS

    opaque = ["+opaque-code" in read("python", code) for code in (started, started + "os.system('b')")]
    assert opaque == [False, True]
