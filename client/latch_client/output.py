"""What every command prints the same way: JSON lines, tables, a failed line on stderr."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from latch_client.paint import printable


def print_json(value: Any) -> None:
    """One line of ASCII JSON, at once: safe on a terminal, and a reader of a pipe need not wait."""
    sys.stdout.write(json_line(value))
    sys.stdout.flush()


def json_line(value: Any) -> str:
    return json.dumps(msgspec.to_builtins(value)) + "\n"


def complain(text: str) -> None:
    """The one line on stderr that every failure is."""
    sys.stderr.write(f"latchctl: {printable(text)}\n")


def with_json(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print JSON, one object per line")


def table(rows: Iterable[Sequence[str]], *, indent: str = "") -> list[str]:
    """Rows as lines with aligned columns, two blanks apart, none at the end of a line."""
    kept = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*kept, strict=True)]
    return [
        indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in kept
    ]
