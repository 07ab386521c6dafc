"""Literal SQL → what it takes away.

Strings and comments are skipped, statements are read by their first words.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Operation

_DROPS: Final = frozenset(
    "TABLE DATABASE SCHEMA INDEX VIEW MATERIALIZED COLUMN USER ROLE SEQUENCE FUNCTION PROCEDURE "
    "TRIGGER TYPE EXTENSION KEYSPACE "
    "COLLECTION TABLESPACE OWNED PARTITION IF".split()
)
_READS: Final = frozenset(
    "SELECT SHOW EXPLAIN DESCRIBE DESC WITH VALUES USE PRAGMA SET BEGIN "
    "COMMIT ROLLBACK END HELP STATUS".split()
)


_PIECE: Final = re.compile(
    r"(?P<gap>[\s(),=]+|--[^\n]*|(?<![^\s;(),=])\#[^\n]*|/\*(?!!).*?(?:\*/|\Z)|/\*!\d*|\*/)"
    r"|(?P<end>;)"
    r"|(?P<quoted>'[^']*(?:'|\Z)|\"[^\"]*(?:\"|\Z)|`[^`]*(?:`|\Z))"
    r"|[^\s;(),='\"`/*-]+|.",
    re.DOTALL,
)


def statements(text: str) -> tuple[tuple[str, ...], ...]:
    """Words of each statement, upper-case; a quoted part is a Q. MySQL runs what stands in `/*! … */`."""
    found: list[list[str]] = [[]]
    word: list[str] = []
    for piece in _PIECE.finditer(text):
        kind = piece.lastgroup
        if kind in ("gap", "end"):
            if word:
                found[-1].append("".join(word).upper())
                word = []
            if kind == "end":
                found.append([])
        else:
            word.append("Q" if kind == "quoted" else piece.group())
    if word:
        found[-1].append("".join(word).upper())
    return tuple(tuple(statement) for statement in found if statement)


def loses(text: str) -> bool:
    """Whether a text drops, truncates, or deletes or overwrites every row."""
    return any(_loses(words) for words in statements(text))


def _loses(words: tuple[str, ...]) -> bool:
    first = words[0]
    if first in ("EXPLAIN", "DESCRIBE") and "ANALYZE" not in words[:3]:
        return False
    if "DROP" in words and first in ("DROP", "ALTER"):
        return first == "ALTER" or bool(_DROPS & set(words[1:3]))
    if first == "TRUNCATE":
        return True
    if first == "ALTER" and "DELETE" in words and ("WHERE" not in words or _always(words)):
        return True  # ClickHouse spells it so
    for verb in ("DELETE", "UPDATE"):
        if verb in words[:1] or (first in ("WITH", "EXPLAIN") and verb in words):
            follows = "FROM" if verb == "DELETE" else "SET"
            if follows in words and ("WHERE" not in words or _always(words)):
                return True
    return False


def _always(words: tuple[str, ...]) -> bool:
    """WHERE 1=1, WHERE true: no condition at all."""
    condition = words[words.index("WHERE") + 1 :]
    return condition in (("1",), ("TRUE",)) or (len(condition) == 2 and condition[0] == condition[1])


def operations(text: str) -> tuple[Operation, ...]:
    """WRITE when a statement changes something, else READ."""
    found = statements(text)
    if all(words[0] in _READS or words[0].startswith(("\\", ".")) for words in found):
        return (Operation.READ,)
    return (Operation.WRITE,)
