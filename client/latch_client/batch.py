"""JSON lines in, one JSON line out for each, in the same order, at once.

INVARIANT (a line for a line): whatever a line holds, exactly one line answers it; one that can't be
judged is answered with `error`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, Final

from latch_contracts import strict_json
from latch_contracts.errors import BadPayload

MAX_LINE: Final = 16 * 1024 * 1024  # bytes; the largest frame a hook may send, and the same kind of text

Answer = Callable[[dict[str, Any]], dict[str, Any]]


def run(source: str, answer: Answer) -> None:
    """Answer every line of the file named, or of stdin for `-`. Raises OSError for the file alone."""
    if source == "-":
        _run(sys.stdin.buffer, answer)
    else:
        with open(source, "rb") as lines:  # noqa: PTH123 (the name as typed stands in the error)
            _run(lines, answer)


def _run(lines: BinaryIO, answer: Answer) -> None:
    write, flush = sys.stdout.write, sys.stdout.flush
    for number, line in enumerate(_lines(lines), 1):
        write(json.dumps(_answer(number, line, answer)) + "\n")
        flush()


def _answer(number: int, line: bytes | None, answer: Answer) -> dict[str, Any]:
    if line is None:
        return {"id": None, "error": f"line {number} is longer than {MAX_LINE} bytes"}
    try:
        row = strict_json.loads(line)
    except BadPayload as error:
        member = "" if error.field == "payload" else f" `{error.field}`"
        return {"id": None, "error": f"line {number}{member} {error.why}"}
    try:
        answered = answer(row)
        json.dumps(answered)
    except Exception as error:  # one row of ten thousand must not end the others
        return {"id": row.get("id"), "error": f"line {number} can't be judged: {_one_line(error)}"}
    return answered


def _lines(lines: BinaryIO) -> Iterator[bytes | None]:
    """Each line; None for one that is too long to be held."""
    while line := lines.readline(MAX_LINE + 1):
        if len(line) <= MAX_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = lines.readline(MAX_LINE)
        yield None


def _one_line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0]
