"""The documents tell the truth: pins exist, links resolve, drawn tables are the code's."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from corpora import REPOSITORY
from latch_client.cli import main
from latchd.lifecycle import TRANSITIONS, edges

INVARIANTS = REPOSITORY / "docs" / "invariants.md"
PIN = re.compile(r"`(tests/[\w/.]+\.py)::(\w+)`")
LINK = re.compile(r"\]\((?!https?:|#)([^)#\s]+)(?:#[^)]*)?\)")
DOCUMENTS = sorted(
    [*REPOSITORY.glob("*.md"), *(REPOSITORY / "docs").rglob("*.md"), *(REPOSITORY / "systemd").glob("*.md")]
)


def pins() -> Iterator[tuple[str, str]]:
    for match in PIN.finditer(INVARIANTS.read_text("utf-8")):
        yield match[1], match[2]


@pytest.mark.parametrize(("file", "title"), list(pins()), ids=lambda value: value.rpartition("/")[2])
def test_a_pinned_promise_has_the_test_it_names(file: str, title: str) -> None:
    path = REPOSITORY / file
    assert path.is_file(), f"{file} is gone; the promise in docs/invariants.md has no test"

    names = {
        node.name
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert title in names, f"{file} has no test of that title"


def test_every_line_of_the_invariants_table_has_a_pin() -> None:
    rows = [
        line
        for line in INVARIANTS.read_text("utf-8").splitlines()
        if line.startswith("|") and not line.startswith(("| ---", "| promise"))
    ]

    assert rows != []
    assert [row for row in rows if not PIN.search(row)] == []


def test_every_named_invariant_of_the_code_is_in_the_table() -> None:
    """``INVARIANT (name): …`` in a comment is a promise; the table pins each name."""
    named = {
        match[1]
        for root in ("contracts", "daemon", "client")
        for path in (REPOSITORY / root).rglob("*.py")
        for match in re.finditer(r"INVARIANT \(([^)]+)\)", path.read_text("utf-8"))
    }
    table = INVARIANTS.read_text("utf-8")

    assert sorted(name for name in named if name not in table) == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_links_between_documents_resolve(document: Path) -> None:
    broken = [
        target
        for target in LINK.findall(document.read_text("utf-8"))
        if not (document.parent / target).exists()
    ]

    assert broken == []


def test_the_readmes_example_is_what_latchctl_says(capsys: pytest.CaptureFixture[str]) -> None:
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    command = re.search(r"latchctl explain '([^']+)'", readme)
    assert command is not None

    main(["explain", command[1]])

    shown = capsys.readouterr().out.rstrip()
    assert f"<!-- explain:begin -->\n```text\n{shown}\n```\n<!-- explain:end -->" in readme


def test_the_diagram_of_a_calls_life_is_drawn_from_the_table() -> None:
    drawn = ["stateDiagram-v2", "    [*] --> pending: let through", "    [*] --> denied: refused"]
    drawn += [f"    {state.value} --> {target.value}: {signal.value}" for state, signal, target in edges()]
    drawn += [f"    {state.value} --> [*]" for state, row in TRANSITIONS.items() if not row]

    text = (REPOSITORY / "docs" / "state.md").read_text("utf-8")

    assert "```mermaid\n" + "\n".join(drawn) + "\n```" in text
