"""JSON lines in, JSON lines out."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from latch_client import batch


def answers(text: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[Any]:
    def length(row: dict[str, Any]) -> dict[str, Any]:
        return {"id": row.get("id"), "length": len(row["command"])}

    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    batch.run("-", length)
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_every_line_has_its_answer_in_order(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    text = b'{"id": 1, "command": "ls"}\n{"id": "b", "command": "pwd"}'

    assert answers(text, monkeypatch, capsys) == [{"id": 1, "length": 2}, {"id": "b", "length": 3}]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"{", "line 2 is not JSON: expecting property name"),
        (b"", "line 2 is empty"),
        (b"[1]", "line 2 is not a JSON object"),
        (b"\xff", "line 2 is not UTF-8 at byte 0"),
        (b"[" * 5_000, "line 2 is nested too deeply"),
        (b"[" * 200_000, "line 2 holds more than 100000 values"),
        (b'{"n": ' + b"9" * 5000 + b"}", "line 2 holds a number that is too long to be read"),
        (b'{"command": "ls", "command": "rm"}', "line 2 `command` appears twice in one object"),
        (b'{"command": "\\ud800"}', "line 2 `command` holds a lone surrogate"),
        (b'{"id": NaN, "command": "ls"}', "line 2 holds NaN, which is not JSON"),
        (b'{"command": 5}', "line 2 can't be judged: object of type 'int' has no len()"),
        (b"{}", "line 2 can't be judged: 'command'"),
    ],
)
def test_a_bad_line_is_answered_with_an_error_and_the_next_go_on(
    line: bytes, error: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    good = b'{"id": 1, "command": "ls"}'
    first, bad, last = answers(b"\n".join((good, line, good, b"")), monkeypatch, capsys)

    assert first == last == {"id": 1, "length": 2}
    assert set(bad) == {"id", "error"}
    assert bad["error"].startswith(error)


def test_a_line_that_is_too_long_is_not_held(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(batch, "MAX_LINE", 30)
    text = b'{"id": 1, "command": "' + b"x" * 100 + b'"}\n{"id": 2, "command": "ls"}\n'

    assert answers(text, monkeypatch, capsys) == [
        {"id": None, "error": "line 1 is longer than 30 bytes"},
        {"id": 2, "length": 2},
    ]


def test_lines_can_come_from_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "rows").write_text('{"id": 1}\n')
    batch.run(str(tmp_path / "rows"), lambda row: row)

    assert capsys.readouterr().out == '{"id": 1}\n'
