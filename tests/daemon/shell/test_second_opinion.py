"""shfmt reads the same texts with a parser of its own: what it sees is listed, or facts are not complete."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from corpora import SHARED_DATA, needs_shared_data, rows
from latch_contracts.facts import ActionFacts, Status
from latchd.shell.facts import analyze
from shellfuzz.programs import NAMES, seeded

SHFMT = shutil.which("shfmt", path=str(Path(sys.executable).parent)) or shutil.which("shfmt") or ""
_PLAIN = ("Lit", "SglQuoted")

pytestmark = pytest.mark.skipif(not SHFMT, reason="shfmt is not installed")


def opinion(text: str) -> Any:
    """shfmt's tree; None where its grammar does not take the text."""
    result = subprocess.run(
        [SHFMT, "-ln=bash", "-tojson"], input=text.encode(), capture_output=True, check=False, timeout=20
    )
    return json.loads(result.stdout) if result.returncode == 0 else None


def calls(tree: Any) -> Iterator[tuple[str, ...]]:
    """The simple commands of a tree whose words are all plain, as their words."""
    todo: list[Any] = [tree]
    while todo:
        node = todo.pop()
        if isinstance(node, list):
            todo += node
        elif isinstance(node, dict):
            node = cast("dict[str, Any]", node)
            todo += node.values()
            if node.get("Type") == "CallExpr" and (words := _plain(node)):
                yield words


def _plain(call: dict[str, Any]) -> tuple[str, ...]:
    words: list[str] = []
    for word in call.get("Args") or ():
        parts: list[dict[str, Any]] = word["Parts"]
        if any(part["Type"] not in _PLAIN or part.get("Dollar") for part in parts):
            return ()
        value = "".join(str(part.get("Value", "")) for part in parts)
        if any(
            character in value for character in "\\*?[{~"
        ):  # quoting and patterns: bash is asked for these
            return ()
        words.append(value)
    return tuple(words)


def unlisted(facts: ActionFacts, tree: Any) -> list[tuple[str, ...]]:
    """The plain calls of our recorders that facts called complete don't list."""
    if facts.status is not Status.COMPLETE:
        return []
    listed = {command.argv for command in facts.commands}
    return [words for words in calls(tree) if words[0] in NAMES and words not in listed]


@pytest.mark.parametrize(
    "text",
    [
        "mk a && { k2 'b c' | run-x; }",
        "f() { mk in; }; f",
        "x=$(k2 z) a.b <<E\n$(mk q)\nE\n",
        "case a in b) mk;; esac; for i in 1; do k2; done",
        "[[ -n $(mk) ]] || ! k2 & ((x=$(run-x)))",
        "diff <(mk) >(k2)",
    ],
)
def test_both_see_every_command(text: str) -> None:
    facts = analyze(text, cwd="/w", home="/h")
    tree = opinion(text)

    assert facts.status is Status.COMPLETE
    assert len(list(calls(tree))) >= 1
    assert unlisted(facts, tree) == []


def test_a_command_that_is_missing_is_noticed() -> None:
    assert unlisted(analyze("mk a", cwd="/w", home="/h"), opinion("mk a; k2 b")) == [("k2", "b")]


@pytest.mark.slow
def test_no_generated_program_has_a_command_that_only_shfmt_sees() -> None:
    seen = 0
    found: list[tuple[int, list[tuple[str, ...]]]] = []
    for seed in range(500_000, 501_500):
        text = seeded(seed)
        facts = analyze(text, cwd="/w", home="/h")
        if facts.status is not Status.COMPLETE or (tree := opinion(text)) is None:
            continue
        seen += 1
        if missing := unlisted(facts, tree):
            found.append((seed, missing))

    assert found == []
    assert seen > 300


_SEVERAL = re.compile(r"[;&|()`{}\n]")  # a text without these is one simple command


def _differs(text: str, words: tuple[str, ...]) -> bool:
    """Where shfmt reads otherwise than bash: `time --`, and `((` with a line continuation in it."""
    return words[0] == "--" or "$(\\\n(" in text


@needs_shared_data
@pytest.mark.slow
def test_no_command_that_people_wrote_is_seen_by_shfmt_alone() -> None:
    complete: dict[str, set[tuple[str, ...]]] = {}
    for path in sorted(SHARED_DATA.glob("*.jsonl")):
        for row in rows(path.name):
            text = row.get("command")
            if isinstance(text, str) and _SEVERAL.search(text):
                facts = analyze(text, cwd="/w", home="/h")
                if facts.status is Status.COMPLETE:
                    complete[text] = {command.argv for command in facts.commands}
    with ThreadPoolExecutor(2) as readers:
        trees = list(readers.map(opinion, complete))
    found = [
        words
        for (text, listed), tree in zip(complete.items(), trees, strict=True)
        if tree is not None
        for words in calls(tree)
        if words not in listed and not _differs(text, words)
    ]

    assert found == []
    assert len(trees) > 3000
