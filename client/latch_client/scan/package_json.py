"""The scripts of a package.json: each is one shell text, run by `npm run`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, cast

from latch_client.scan.snippet import Snippet, Unreadable


def read(text: str) -> Iterator[Snippet]:
    """Every script. Raises Unreadable."""
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"is no JSON: {str(error).lower()}") from None
    if not isinstance(value, dict):
        raise Unreadable("is no JSON object")
    scripts = cast("dict[str, Any]", value).get("scripts")
    if not isinstance(scripts, dict):
        return
    lines = text.split("\n")
    at = next((number for number, line in enumerate(lines) if '"scripts"' in line), 0)
    for name, script in cast("dict[str, Any]", scripts).items():
        if isinstance(script, str) and script.strip():
            key = json.dumps(name, ensure_ascii=False)
            found = (number for number in range(at, len(lines)) if key in lines[number])
            yield Snippet(script + "\n", (next(found, at) + 1,))
