"""The JSON Schema of a pack, made from the types that read one, for editors: docs/pack.schema.json.

What the reader asks beyond the types is said too, so that an editor refuses what the daemon refuses; only
whether a pattern is RE2 and an expression CEL is left to the reader.

``python -m latchd.rules.schema`` prints it.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from latchd.rules.pack import Pack
from latchd.shell.grammar.description import DETAILS

_SENTENCE: Final = r"^[^\s.!?]$|^\S[^\n]*[^\s.!?]$"
_PROGRAM: Final = "^[^A-Z/]*$"


def schema() -> dict[str, Any]:
    whole = msgspec.json.schema(Pack)
    rule = whole["$defs"]["PackRule"]
    fields = rule["properties"]
    for field in ("message", "instead"):
        fields[field] = fields[field] | {"pattern": _SENTENCE}
    fields["programs"]["items"] = fields["programs"]["items"] | {"pattern": _PROGRAM}
    fields["details"]["items"] = {"enum": sorted(DETAILS)}
    rule["allOf"] = [
        {"if": _given("safe_negative"), "then": _given("expression")},
        {"if": _given("owner"), "then": {"not": _given("expression")}},
    ]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A pack of latchd rules",
        **whole,
    }


def _given(field: str) -> dict[str, Any]:
    """A rule that has the field, and not empty."""
    return {"required": [field], "properties": {field: {"minLength": 1}}}


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(text(), end="")
