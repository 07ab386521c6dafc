"""The packs of this release: every expression compiles, and every example holds by either voice."""

from __future__ import annotations

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml

from corpora import REPOSITORY
from latchd.rules import patterns
from latchd.rules.bundled import compiled, files, released
from latchd.rules.compiling import Entry
from latchd.rules.fallback import bound
from latchd.rules.lint import Fault, examples, faults, said
from latchd.rules.schema import schema, text
from rule_cases import entries_of, given

ENTRIES = compiled()
SCHEMA = REPOSITORY / "docs" / "pack.schema.json"


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.rule.id)
def test_a_rules_pattern_alone_would_find_and_pass_its_examples(entry: Entry) -> None:
    declared = entry.declared
    assert declared is not None
    pattern = patterns.compiled(declared.pattern)

    assert declared.expression != ""
    assert [
        command for command in declared.denies if not list(bound(given(command), declared, pattern))
    ] == []
    assert [command for command in declared.passes if list(bound(given(command), declared, pattern))] == []


def test_nothing_is_wrong_with_any_rule_built_in_or_of_a_pack() -> None:
    rules = released()

    assert [str(fault) for entry in rules.entries for fault in faults(rules, entry)] == []


def test_the_published_schema_is_that_of_the_types() -> None:
    assert SCHEMA.read_text("utf-8") == text(), "run `python -m latchd.rules.schema > docs/pack.schema.json`"


def test_the_packs_validate_by_the_schema_and_a_slip_does_not() -> None:
    for file in files():
        content = (REPOSITORY / "daemon" / file.path).read_text("utf-8")
        jsonschema.validate(yaml.safe_load(content), schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"version": 1, "category": "x", "rules": [], "extra": 1}, schema())


def linted(**fields: object) -> list[str]:
    from latchd.rules.generation import with_packs

    rules = with_packs(released(), entries_of(dict(fields)))
    entry = rules.entry("mine.deploy")
    assert entry is not None
    return [fault.why for fault in faults(rules, entry)]


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({}, ["has no `denies`, so nothing shows that it can match"]),
        ({"denies": ["othertool"]}, ["`othertool` is not found by its own rule"]),
        (
            {"denies": ["deploytool a"], "passes": ["deploytool b"]},
            ["`deploytool b` is found by its own rule"],
        ),
        (
            {"denies": ["deploytool a"], "instead": "run `deploytool --plan x` first"},
            ["advises `deploytool --plan x`, which `mine.deploy` refuses"],
        ),
        (
            {"denies": ["deploytool a"], "instead": "start over with `git reset --hard`"},
            ["advises `git reset --hard`, which `git.discard-work` refuses"],
        ),
        ({"denies": ["deploytool a"], "passes": ["ls"], "instead": "look with `git status` first"}, []),
    ],
)
def test_a_rule_that_contradicts_itself_or_its_neighbours_is_told(
    fields: dict[str, object], why: list[str]
) -> None:
    assert linted(**fields) == why


def test_a_fault_says_where_it_is() -> None:
    assert str(Fault("a.yaml", 4, "a.b", "is odd")) == "a.yaml:4: `a.b`: is odd"
    assert str(Fault("built-in", 0, "a.b", "is odd")) == "built-in: `a.b`: is odd"


def test_examples_tell_what_became_of_each() -> None:
    entry = released().entry("infra.cluster-loss")
    assert entry is not None
    told = list(examples(released(), entry))

    assert {example.why for example in told} == {""}
    assert [example.wanted for example in told].count("found") == len(entry.rule.denies)


def test_the_way_out_of_a_coded_rule_is_what_its_example_is_told() -> None:
    entry = released().entry("git.discard-work")
    assert entry is not None

    assert said(entry) == (
        "this throws uncommitted work away",
        "commit or `git stash push` it first, or ask the person",
    )
