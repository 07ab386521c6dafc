"""A view with a row of everything: what a rule is evaluated on once, before it may judge."""

from __future__ import annotations

from typing import Any, Final

from latchd.rules.engine import View
from latchd.rules.shapes import RECORDS, ListShape, Record, Scalar, Shape

# Longer than people's commands are: 8 segments, 12 words each (99 % of nl2bash has fewer of both).
_SIZES: Final = {"commands": 8, "commands.argv": 96, "commands.words": 80, "commands.options": 32}
_OTHERS: Final = 16


def _sample(shape: Shape) -> Any:
    match shape:
        case Scalar(kind="bool"):
            return False
        case Scalar(kind="int"):
            return 1
        case Scalar(words=words):
            return min(words) if words else "x"
        case ListShape(of=of):
            return [_sample(of)]
        case Record(name=name):
            return {field: _sample(inner) for field, (inner, _) in RECORDS[name].items()}


def _sizes() -> dict[str, int]:
    found: dict[str, int] = {}
    for field, (shape, _) in RECORDS["facts"].items():
        if isinstance(shape, ListShape) and isinstance(shape.of, Record):
            found[field] = _SIZES.get(field, _OTHERS)
            for inner, (nested, _) in RECORDS[shape.of.name].items():
                if isinstance(nested, ListShape):
                    found[f"{field}.{inner}"] = _SIZES.get(f"{field}.{inner}", _OTHERS)
    return found


FIXTURE: Final = View(_sample(Record("facts")), _sizes())
