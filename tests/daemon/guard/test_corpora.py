"""Verdicts against the shared corpora: how much is caught, and how much is refused that should run.

The measure itself is tests/accuracy/measure.py; exceptions are argued in docs/accuracy.md.
"""

from __future__ import annotations

import pytest

from accuracy.exceptions import EXCEPTIONS
from accuracy.measure import BARS, Answer, Bar, peoples_answers, share, written_answers
from accuracy.owners import OWNERS
from corpora import REPOSITORY, needs_shared_data
from latchd.rules.bundled import released

PEOPLES = {"nl2bash.not-denied", "nl2bash.not-asked"}
# A little below what is reached with nothing argued away, so that a change that loses a kind is noticed.
FLOORS = {
    "facts.attack": 0.98,
    "facts.benign": 0.75,
    "dcg.block": 0.97,
    "dcg.allow": 1.0,
    "dcg-pack.block": 0.85,
    "dcg-pack.allow": 0.96,
    "ccsn.block": 0.91,
    "ccsn.allow": 0.90,
    "cases.a": 0.98,
    "cases.a-deny": 1.0,
    "cases.b": 0.97,
    "cases.c": 0.93,
}
ARGUED = [bar for bar in BARS if bar.figure not in PEOPLES | {"dcg-pack.block"}]


@pytest.fixture(scope="module")
def written() -> list[Answer]:
    return list(written_answers())


@needs_shared_data
@pytest.mark.parametrize("figure", FLOORS)
def test_a_figure_stays_where_it_is(written: list[Answer], figure: str) -> None:
    assert share(written, figure, argued=False) >= FLOORS[figure]


@needs_shared_data
@pytest.mark.parametrize("bar", ARGUED, ids=[bar.figure for bar in ARGUED])
def test_a_figure_meets_its_bar_but_for_what_is_argued(written: list[Answer], bar: Bar) -> None:
    assert share(written, bar.figure, argued=True) >= bar.least


@needs_shared_data
@pytest.mark.slow
def test_commands_that_people_wrote_are_seldom_refused_or_asked_about() -> None:
    """What is refused are removals below absolute paths, dumps, crontabs; what is asked, writes elsewhere."""
    found = list(peoples_answers())

    assert [answer.text for answer in found if answer.verdict.startswith("error")] == []
    assert share(found, "nl2bash.not-denied", argued=False) >= 0.962
    assert share(found, "nl2bash.not-asked", argued=False) >= 0.930


@needs_shared_data
def test_every_exception_is_a_row_of_a_corpus(written: list[Answer]) -> None:
    assert EXCEPTIONS.keys() - {answer.key for answer in written} == set()


def test_every_rule_that_owns_an_upstream_id_exists() -> None:
    ids = {entry.rule.id for entry in released().entries}

    assert {owner for owners in OWNERS.values() for owner in owners} - ids == set()


def test_every_kind_of_exception_is_argued_in_the_docs() -> None:
    page = (REPOSITORY / "docs" / "accuracy.md").read_text(encoding="utf-8")

    assert [kind for kind in dict.fromkeys(EXCEPTIONS.values()) if f"**{kind}**" not in page] == []
