"""The schema for editors and the reader of packs agree: what one takes the other takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from latch_contracts.facts import Operation
from latchd.rules.pack import PackError, PackFile, parse
from latchd.rules.schema import schema
from latchd.shell.grammar.description import DETAILS

VALIDATOR: Any = jsonschema.Draft202012Validator(schema())
WORDS = st.from_regex(r"[a-z][a-z0-9-]{0,12}", fullmatch=True)
SENTENCES = st.from_regex(r"[a-z`][ -~]{0,40}[a-z0-9`]", fullmatch=True)
GROUPS = sorted(schema()["$defs"]["PackRule"]["properties"]["group"]["anyOf"][0]["enum"])
NAMES = r"[a-z][a-z0-9]{0,6}(-[a-z0-9]{1,5}){0,2}"


def optional() -> dict[str, st.SearchStrategy[Any]]:
    return {
        "enabled": st.booleans(),
        "group": st.sampled_from(GROUPS),
        "binds": st.lists(
            st.sampled_from(["command", "path", "network", "pipeline"]), min_size=1, max_size=4
        ),
        "programs": st.lists(WORDS, max_size=4),
        "operations": st.lists(st.sampled_from([each.value for each in Operation]), max_size=4),
        "details": st.lists(st.sampled_from(sorted(DETAILS)), max_size=4),
        "tool_call_only": st.just(True),
        "denies": st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)),
        "passes": st.lists(WORDS, max_size=3),
        "expression": st.sampled_from(["", "true", 'f.tool == "Bash"']),
    }


RULES = st.fixed_dictionaries(
    {
        "id": st.from_regex(rf"{NAMES}(\.{NAMES}){{1,2}}", fullmatch=True),
        "title": SENTENCES,
        "severity": st.sampled_from(["low", "medium", "high", "critical"]),
        "confidence": st.sampled_from([0, 1, 0.5, 0.95]),
        "pattern": st.sampled_from(["^x", "a|b", r"\bx\b", "(?i)drop"]),
        "tags": st.lists(WORDS, min_size=1, max_size=4),
        "message": SENTENCES,
        "instead": SENTENCES,
    },
    optional=optional(),
)
PACKS = st.fixed_dictionaries(
    {
        "version": st.just(1),
        "category": st.from_regex(NAMES, fullmatch=True),
        "rules": st.lists(RULES, min_size=1, max_size=3),
    }
)


class _Plain(yaml.SafeDumper):
    def ignore_aliases(self, data: Any) -> bool:
        return True


def written(document: Any) -> bytes:
    """One field a line, and no value twice the same object: a pack has no aliases."""
    dump: Any = yaml.dump  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    text: str = dump(document, Dumper=_Plain, width=1_000_000, sort_keys=False)
    return text.encode()


def told(document: Any) -> PackFile | PackError:
    try:
        return parse(written(document), "mine.yaml")
    except PackError as error:
        return error


@given(document=PACKS)
@settings(max_examples=50, deadline=None)
def test_what_the_schema_takes_is_read(document: Any) -> None:
    read = told(document)

    assert [error.message for error in VALIDATOR.iter_errors(document)] == []
    assert isinstance(read, PackFile), read
    assert [rule.id for rule in read.pack.rules] == [rule["id"] for rule in document["rules"]]


def changed(**fields: Any) -> Callable[[dict[str, Any]], str]:
    """Gives a rule these fields; the first is where the reader must point."""

    def change(rule: dict[str, Any]) -> str:
        rule |= fields
        return next(iter(fields))

    return change


def without(field: str) -> Callable[[dict[str, Any]], str]:
    def change(rule: dict[str, Any]) -> str:
        del rule[field]
        return ""

    return change


SLIPS = {
    **{
        f"no {field}": without(field)
        for field in ("id", "title", "severity", "confidence", "pattern", "tags")
    },
    **{f"no {field}": without(field) for field in ("message", "instead")},
    "an unknown field": changed(colour="red"),
    "an id of one word": changed(id="mine"),
    "an id with capitals": changed(id="Mine.x"),
    "a severity there is none of": changed(severity="grave"),
    "too much confidence": changed(confidence=1.5),
    "confidence in quotes": changed(confidence="0.9"),
    "no tag": changed(tags=[]),
    "a tag that is a number": changed(tags=[1]),
    "a group of ours": changed(group="self-protection"),
    "a binding there is none of": changed(binds=["socket"]),
    "no binding": changed(binds=[]),
    "a program with a slash": changed(programs=["/bin/x"]),
    "a program in capitals": changed(programs=["Make"]),
    "an operation there is none of": changed(operations=["explode"]),
    "a detail there is none of": changed(details=["cluster-los"]),
    "a message with a stop": changed(message="this deploys."),
    "a message that ends blank": changed(message="this deploys "),
    "advice of two lines": changed(instead="ask\nor not"),
    "a title that is too long": changed(title="x" * 257),
    "a pattern that is too long": changed(pattern="x" * 2049),
    "an expression that is too long": changed(expression="x" * 16385),
    "too many examples": changed(denies=["x"] * 65),
    "an example that is empty": changed(passes=[""]),
    "more than tool calls": changed(tool_call_only=False),
    "enabled in quotes": changed(enabled="true"),
    "a safe negative of nothing": changed(safe_negative="true", expression=""),
    "an owner and an expression": changed(owner="mine.x", expression="true"),
}


@pytest.mark.parametrize("slip", SLIPS)
@given(document=PACKS, at=st.integers(0, 2))
@settings(max_examples=2, deadline=None)
def test_what_the_schema_refuses_is_refused_with_file_line_and_reason(
    slip: str, document: Any, at: int
) -> None:
    rule = document["rules"][at % len(document["rules"])]
    field = SLIPS[slip](rule)
    error = told(document)
    lines = written(document).decode().split("\n")

    assert not VALIDATOR.is_valid(document)
    assert isinstance(error, PackError)
    assert (error.path, error.why != "") == ("mine.yaml", True)
    assert str(error) == f"mine.yaml:{error.line}: {error.why}"
    begins = [number for number, line in enumerate(lines) if line.startswith("- ")][
        at % len(document["rules"])
    ]
    if field:
        pointed = lines[error.line - 1].strip().removeprefix("- ")
        wanted = [number for number, line in enumerate(lines) if number >= begins and f"{field}:" in line]
        # the line of the field, or of the item of its list
        assert pointed.startswith(f"{field}:") or error.line - 1 in range(wanted[0], wanted[0] + 66), pointed
    else:
        assert error.line == begins + 1


@pytest.mark.parametrize(
    "document",
    [{}, {"version": 2, "category": "x", "rules": []}, {"version": 1, "category": "X", "rules": []}],
)
def test_a_document_that_is_no_pack_is_refused_by_both(document: Any) -> None:
    assert not VALIDATOR.is_valid(document)
    assert isinstance(told(document), PackError)
