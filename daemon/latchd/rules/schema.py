"""The JSON Schema of a pack, made from the types that read one, for editors: docs/pack.schema.json.

``python -m latchd.rules.schema`` prints it.
"""

from __future__ import annotations

import json
from typing import Any

import msgspec

from latchd.rules.pack import Pack


def schema() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A pack of latchd rules",
        **msgspec.json.schema(Pack),
    }


def text() -> str:
    return json.dumps(schema(), indent=2) + "\n"


if __name__ == "__main__":
    print(text(), end="")
