"""The documents tell the truth: pins exist, links resolve, drawn tables are the code's."""

from __future__ import annotations

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from architecture import readme
from corpora import REPOSITORY
from latch_client.commands import completion, policy
from latch_contracts.connectors.claudecode import CONTRACT
from latch_contracts.connectors.claudecode.settings import registered
from latchd.guard.rules import RULES
from latchd.lifecycle import TRANSITIONS, edges
from latchd.policy import Policy, parse
from latchd.rules.bundled import bundled

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


def test_the_readme_shows_what_the_program_prints() -> None:
    text = readme.README.read_text("utf-8")

    assert f"latchctl explain '{readme.COMMAND}'" in text
    assert readme.renewed(text) == text, "run `make readme` and read what has changed"
    assert "participant.error" not in text


def test_every_path_of_the_repository_named_in_a_document_is_there() -> None:
    gone = [
        f"{document.name}: {path}"
        for document in DOCUMENTS
        for path in re.findall(
            r"`((?:daemon|client|contracts|tests|systemd|docs)/[\w./-]+)`", document.read_text("utf-8")
        )
        if not (REPOSITORY / path).exists()
    ]

    assert gone == []


def test_every_make_target_named_in_a_document_is_there() -> None:
    targets = set(re.findall(r"^([a-z]+):", (REPOSITORY / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = {
        target
        for document in DOCUMENTS
        for target in re.findall(r"(?:`|^\$ |^    )make ([a-z]+)", document.read_text("utf-8"), re.MULTILINE)
    }

    assert named - targets == set()


def test_every_latchctl_command_and_option_named_in_a_document_is_there() -> None:
    known = {command.name: command for command in completion.commands()}
    wrong: list[str] = []
    for document in DOCUMENTS:
        if document.name == "rules.md":
            continue  # its examples are commands that the guard refuses, known to latchctl or not
        for line in re.findall(r"(?:`|\$ |/)latchctl ([a-z][^`\n]*)", document.read_text("utf-8")):
            name, *words = line.partition("#")[0].split()
            options = {
                spelling
                for option in (known[name].options if name in known else ())
                for spelling in option.names
            }
            used = {word.partition("=")[0] for word in words if re.match(r"--[a-z]", word)}
            if name not in known or used - options:
                wrong.append(f"{document.name}: latchctl {line}")

    assert wrong == []


def test_every_rule_named_in_a_document_is_there() -> None:
    areas = {rule.id.partition(".")[0] for rule in RULES}
    pattern = re.compile(rf"`((?:{'|'.join(sorted(areas))}|write|floor|participant)\.[a-z][a-z-]+)`")
    source = "".join(path.read_text("utf-8") for path in (REPOSITORY / "daemon").rglob("*.py"))
    source += "".join(f'"{entry.rule.id}"' for entry in bundled())
    wrong = [
        f"{document.name}: {rule}"
        for document in DOCUMENTS
        for rule in pattern.findall(document.read_text("utf-8"))
        if f'"{rule}"' not in source and f'"{rule.partition(".")[2]}"' not in source
    ]

    assert wrong == []


def test_the_shown_config_holds_every_key_with_its_default() -> None:
    block = re.search(r"```toml\n(.*?)```", (REPOSITORY / "docs" / "config.md").read_text("utf-8"), re.DOTALL)
    assert block is not None

    assert parse(block[1].encode()) == Policy()
    assert tomllib.loads(block[1]) == json.loads(json.dumps(policy.members(Policy())))


def test_the_page_on_claude_code_counts_its_events_and_names_those_that_are_registered() -> None:
    page = (REPOSITORY / "docs" / "connectors" / "claudecode.md").read_text("utf-8")
    table = page.partition("## The events")[2].partition("Registered by the installer")[0]
    named = {
        name for row in re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE) for name in row.split("`")[1::2]
    }
    others = re.search(r"\| the other (\d+) \|", table)
    assert others is not None

    assert f"All {len(CONTRACT.events)} events" in table
    assert len(named) + int(others[1]) == len(CONTRACT.events)
    assert named | {"SessionStart", "SubagentStart", "CwdChanged"} == set(registered(""))


def test_the_diagram_of_a_calls_life_is_drawn_from_the_table() -> None:
    drawn = ["stateDiagram-v2", "    [*] --> pending: let through", "    [*] --> denied: refused"]
    drawn += [f"    {state.value} --> {target.value}: {signal.value}" for state, signal, target in edges()]
    drawn += [f"    {state.value} --> [*]" for state, row in TRANSITIONS.items() if not row]

    text = (REPOSITORY / "docs" / "state.md").read_text("utf-8")

    assert "```mermaid\n" + "\n".join(drawn) + "\n```" in text
