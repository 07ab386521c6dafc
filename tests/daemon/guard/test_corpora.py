"""Verdicts against the shared corpora: how much is caught, and how much is refused that should run.

Floors, set a little below what is reached, so that a change that loses a whole kind is noticed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from corpora import needs_shared_data, rows
from latch_contracts.connectors import CONNECTORS
from latchd.offline import check_line
from latchd.policy import Policy

pytestmark = needs_shared_data

# Verdicts that hang on the state of the disk are the gates' own tests.
_DEFAULT_CWD = "/home/dev/proj"


def verdict(row: dict[str, Any]) -> str:
    return str(check_line(row, Policy()).get("verdict"))


def share(right: list[bool]) -> float:
    return sum(right) / len(right)


def _cases(kind: str) -> Iterator[tuple[dict[str, Any], str]]:
    for row in rows("cases.jsonl"):
        if row["kind"] != kind or row.get("doubtful") or row.get("setup"):
            continue
        base = {"id": row["id"], "cwd": row.get("cwd") or _DEFAULT_CWD, "home": "/home/dev"}
        wanted = row["right"]["verdict"].replace("detect", "allow")
        given = row["input"]
        if "command" in given:
            yield {**base, "command": given["command"]}, wanted
        elif "event" in given and row["connector"].replace("-", "") in CONNECTORS:
            yield {**base, "event": given["event"], "connector": row["connector"]}, wanted


@pytest.mark.parametrize(("kind", "floor"), [("a", 0.90), ("b", 0.95), ("c", 0.90)])
def test_public_cases_get_the_verdict_an_expert_gave(kind: str, floor: float) -> None:
    assert share([verdict(row) == wanted for row, wanted in _cases(kind)]) >= floor


def test_what_another_guard_blocks_is_not_allowed() -> None:
    blocked = [row for row in rows("dcg-corpus.jsonl") if row["expect"] == "block" and not row["needs_pack"]]

    assert share([verdict({"command": row["command"]}) != "allow" for row in blocked]) >= 0.90


def test_what_another_guard_allows_is_not_refused() -> None:
    allowed = [row for row in rows("dcg-corpus.jsonl") if row["expect"] == "allow" and not row["needs_pack"]]

    assert share([verdict({"command": row["command"]}) != "deny" for row in allowed]) >= 0.97


@pytest.mark.parametrize(("expect", "wrong", "floor"), [("block", "allow", 0.75), ("allow", "deny", 0.82)])
def test_an_analyzers_own_passing_tests_are_mostly_agreed_with(expect: str, wrong: str, floor: float) -> None:
    chosen = [
        {"command": row["command"], "cwd": row["cwd"] or "/home/dev/project"}
        for row in rows("ccsn-corpus.jsonl")
        if row["portable"] and not row["mode"]["strict"] and row.get("command") and row["expect"] == expect
    ]

    assert share([verdict(row) != wrong for row in chosen]) >= floor


@pytest.mark.slow
def test_commands_that_people_wrote_are_seldom_refused() -> None:
    """Most of the refusals are right: removals below absolute paths, environment dumps, crontabs."""
    answers = [verdict({"command": row["command"]}) for row in rows("nl2bash.jsonl")]

    assert answers.count("None") == 0
    assert share([answer == "deny" for answer in answers]) <= 0.038
    # a third of these change files outside the project that a search finds there
    assert share([answer == "ask" for answer in answers]) <= 0.077
