"""Every property of the ledger has its row, and every row a test that exists."""

from __future__ import annotations

import ast
import re

import pytest

from corpora import REPOSITORY

PAGE = (REPOSITORY / "docs" / "ledger-properties.md").read_text("utf-8")
ROW = re.compile(r"^\| ([PHGT]\d+) \|", re.MULTILINE)
PIN = re.compile(r"`(tests/[\w/.]+\.py)::(\w+)`")
WANTED = [
    f"{letter}{number}"
    for letter, last in (("P", 50), ("H", 14), ("G", 10), ("T", 35))
    for number in range(1, last + 1)
]


def test_every_property_has_one_row() -> None:
    assert ROW.findall(PAGE) == WANTED


@pytest.mark.parametrize(
    ("file", "title"), sorted(set(PIN.findall(PAGE))), ids=lambda value: value.rpartition("/")[2]
)
def test_a_named_test_exists(file: str, title: str) -> None:
    tree = ast.parse((REPOSITORY / file).read_text("utf-8"))
    names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}

    assert title in names
