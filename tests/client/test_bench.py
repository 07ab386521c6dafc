"""The figures of `latchctl bench`: what is counted, and what a bad corpus leads to."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from latch_client import private
from latch_client.benches import crowd, facts
from latch_client.benches.commands import OWN
from latch_client.benches.hostile import SIZE, hostile
from latch_client.benches.times import Times
from latch_client.cli import main
from latch_contracts.wire import VERSION, HookReply, HookRequest
from wire_server import places_in, serving


def test_shares_are_counted_by_status_and_issue() -> None:
    figures = facts.measure(["ls", "$x a", "a |", "rm -rf b"])

    assert {name: figures[name] for name in ("commands", "complete_percent", "statuses", "issues")} == {
        "commands": 4,
        "complete_percent": 50.0,
        "statuses": {"complete": 2, "partial": 1, "invalid": 1},
        "issues": {"dynamic_word": 1, "invalid_syntax": 1},
    }


def test_without_a_corpus_our_own_commands_are_taken_and_all_are_complete() -> None:
    assert facts.commands(None) == OWN
    assert facts.measure(OWN)["complete_percent"] == 100.0


def test_hostile_texts_are_as_long_as_a_shell_text_may_be() -> None:
    assert all(SIZE - 32 <= len(text.encode()) <= SIZE for text in hostile().values())


def test_a_corpus_is_the_command_of_each_line(tmp_path: Path) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"id": 1, "command": "ls"}\n{"command": "a é"}\n')

    assert facts.commands(corpus) == ["ls", "a é"]


@pytest.mark.parametrize("content", ["", "ls\n", '{"id": 1}\n', "[1]\n"])
def test_a_bad_corpus_is_one_line_of_error(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = tmp_path / "c.jsonl"
    corpus.write_text(content)

    assert main(["bench", "--only", "facts", "--corpus", str(corpus)]) == 1
    assert len(capsys.readouterr().err.splitlines()) == 1


def test_the_figures_are_printed_and_given_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(facts, "hostile", lambda: {"words": "a b"})
    corpus = tmp_path / "c.jsonl"
    corpus.write_text('{"command": "$x a"}\n{"command": "ls"}\n')

    assert main(["bench", "--only", "facts", "--corpus", str(corpus)]) == 0
    printed = capsys.readouterr().out
    assert main(["bench", "--only", "facts", "--json", "--corpus", str(corpus)]) == 0
    figures = json.loads(capsys.readouterr().out)

    assert printed.startswith("facts of 2 commands: 50.00 % complete, 1 are not\n  dynamic_word")
    assert figures["facts"]["issues"] == {"dynamic_word": 1}
    assert [one["status"] for one in figures["hostile"]] == ["complete"]


def test_times_are_in_milliseconds() -> None:
    assert Times.of([0.001, 0.003, 0.002]) == Times(1.0, 2.0, 3.0, 2.0)


def test_a_crowd_asks_for_every_decision_once_and_takes_every_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = places_in(tmp_path, monkeypatch)
    with serving(places, lambda _: [HookReply(VERSION, 0, b"", b"")]) as server:
        daemon = private.Private(places, tmp_path, {}, os.getpid())
        figures = crowd.measure(daemon, 40, 10, lambda number: b"%d" % number)

    asked = [request.payload for request in server.requests if isinstance(request, HookRequest)]
    assert sorted(asked, key=int) == [b"%d" % number for number in range(40)]
    assert (figures.decisions, figures.sessions, figures.at_once) == (40, 10, crowd.AT_ONCE)
    assert figures.decisions_per_second > 0


def test_a_daemon_that_dies_under_a_crowd_is_no_figure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = places_in(tmp_path, monkeypatch)
    with serving(places, lambda _: []):
        daemon = private.Private(places, tmp_path, {}, os.getpid())

        with pytest.raises(ConnectionError, match="hung up"):
            crowd.measure(daemon, 1, 1, lambda _: b"{}")
