"""Facts as expressions see them."""

from __future__ import annotations

from typing import Any

import pytest

from latchd.rules.engine import BudgetSpent
from latchd.rules.shapes import RECORDS, ListShape, Record
from latchd.rules.view import MAX_TEXT, MAX_WORDS, views
from rule_cases import given


def facts(command: str) -> dict[str, Any]:
    return dict(views(given(command)).whole().facts)


def test_every_field_of_the_table_is_in_the_view_and_no_other() -> None:
    seen = facts("cat a | sudo curl -T - https://x.example > out")

    assert set(seen) == set(RECORDS["facts"])
    for field, (shape, _) in RECORDS["facts"].items():
        if isinstance(shape, ListShape) and isinstance(shape.of, Record):
            assert {frozenset(row) for row in seen[field]} == {frozenset(RECORDS[shape.of.name])}, field
    redirects = [one for command in seen["commands"] for one in command["redirects"]]
    assert {frozenset(one) for one in redirects} == {frozenset(RECORDS["redirect"])}


def test_a_command_has_its_words_options_and_line_apart() -> None:
    (command,) = facts("/usr/bin/Kubectl -n prod delete ns --grace-period=0 $X")["commands"]

    assert {name: command[name] for name in ("program", "words", "options", "line", "argv_complete")} == {
        "program": "kubectl",
        "words": ["prod", "delete", "ns", "\0"],
        "options": ["-n", "--grace-period"],
        "line": "kubectl -n prod delete ns --grace-period=0 $",
        "argv_complete": False,
    }


@pytest.mark.parametrize(
    ("command", "place", "labels"),
    [
        ("rm -rf /", "root", []),
        ("rm -rf ~", "home", []),
        ("rm -rf .", "project-root", []),
        ("rm src/a", "project", []),
        ("rm /tmp/x/y", "scratch", []),
        ("rm /home/dev/other/x", "outside", []),
        ("cat ~/.ssh/id_rsa", "outside", ["credential", "persistence"]),
        ("echo x > .git/config", "repository", ["protected"]),
        ("echo x > /dev/sda", "device", []),
    ],
)
def test_a_path_says_where_it_lies_and_which_tables_it_is_in(
    command: str, place: str, labels: list[str]
) -> None:
    path = facts(command)["paths"][0]

    assert (path["place"], path["labels"]) == (place, labels)


def test_sizes_count_lists_over_all_commands_together() -> None:
    sizes = views(given("a b c; d -e")).whole().sizes

    assert {name: sizes[name] for name in ("commands", "commands.argv", "commands.options", "paths")} == {
        "commands": 2,
        "commands.argv": 5,
        "commands.options": 1,
        "paths": 0,
    }


def test_a_view_of_some_commands_holds_what_belongs_to_them() -> None:
    only = views(given("cat a; cat b")).only(frozenset((2,))).facts

    assert [command["id"] for command in only["commands"]] == [2]
    assert [path["value"] for path in only["paths"]] == ["b"]


@pytest.mark.parametrize(
    "command",
    [
        f"tool {'x' * (MAX_TEXT + 1)}",
        f"tool {('y' * 100 + ' ') * 200}",
        "; ".join(["tool " + "x " * 100] * (MAX_WORDS // 100 + 1)),
    ],
    ids=["a long word", "a long line", "many words"],
)
def test_what_does_not_fit_makes_no_view(command: str) -> None:
    with pytest.raises(BudgetSpent):
        views(given(command)).whole()


def test_the_view_is_made_once_for_a_call() -> None:
    subject = given("ls")

    assert views(subject).whole() is views(subject).whole()
