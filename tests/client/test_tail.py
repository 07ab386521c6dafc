"""`latchctl tail` against a socket."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from latch_client.cli import main
from latch_client.render_records import line
from latch_contracts.places import Places
from latch_contracts.records import HealthRecord, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Answer, End, Streamed, Watch
from wire_server import Request, places_in, serving

OLD = VerdictRecord(seq=4, at_ms=1000, action=Action.ALLOW, tool="Read", head="/a")
NEW = VerdictRecord(
    seq=5, at_ms=2000, action=Action.DENY, tool="Bash", head="rm -rf ~", rule="fs.x", reason="no"
)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    return places_in(tmp_path, monkeypatch)


def one_old_one_new(request: Request) -> list[Answer | bytes]:
    assert isinstance(request, Watch)
    return [Streamed(VERSION, NEW)] if request.follow else [Streamed(VERSION, OLD), End(VERSION, 4)]


def test_the_newest_come_first_then_every_new_one(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, one_old_one_new) as server:
        code = main(["tail", "-n", "1"])

    assert server.requests == [
        Watch(VERSION, cursor=0, follow=False, limit=1),
        Watch(VERSION, cursor=4, follow=True),
    ]
    assert (code, *capsys.readouterr()) == (
        1,
        f"{line(OLD)}\n{line(NEW)}\n",
        "latchctl: the daemon went away; go on after `latchctl up` with `latchctl tail --since 5`\n",
    )


def test_filters_are_the_daemons_business(places: Places) -> None:
    words = ["tail", "-n", "3", "--no-follow", "--kind", "verdict", "--kind", "gap", "--action", "deny"]
    with serving(places, lambda _: [End(VERSION, 4)]) as server:
        code = main([*words, "--connector", "claudecode"])

    assert (code, server.requests) == (
        0,
        [
            Watch(
                VERSION,
                cursor=0,
                follow=False,
                kinds=["verdict", "gap"],
                connectors=["claudecode"],
                actions=["deny"],
                limit=3,
            )
        ],
    )


def test_since_begins_after_that_record_without_asking_for_older_ones(places: Places) -> None:
    with serving(places, lambda _: []) as server:
        main(["tail", "--since", "7"])

    assert server.requests == [Watch(VERSION, cursor=7, follow=True)]


def test_no_old_ones_begins_with_the_next(places: Places) -> None:
    with serving(places, lambda _: []) as server:
        main(["tail", "-n", "0"])

    assert server.requests == [Watch(VERSION, cursor=-1, follow=True)]


def test_json_is_one_record_a_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(places, one_old_one_new):
        code = main(["tail", "--no-follow", "--json"])

    assert (code, [json.loads(text) for text in capsys.readouterr().out.splitlines()]) == (
        0,
        [{"type": "verdict", "seq": 4, "at_ms": 1000, "action": "allow", "tool": "Read", "head": "/a"}],
    )


def test_ctrl_c_ends_it_well(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    ended = threading.Event()

    def then_ctrl_c(_: Request) -> Iterator[Answer]:
        yield Streamed(VERSION, OLD)
        # To the thread that reads: another one would take the signal and leave it reading.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        ended.wait(10)  # a connection that ends here could be noticed ahead of the signal

    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background ignores it
    try:
        with serving(places, then_ctrl_c):
            code = main(["tail", "--since", "0"])
            ended.set()
    finally:
        signal.signal(signal.SIGINT, before)

    assert (code, capsys.readouterr().err) == (0, "")


def test_a_daemon_that_stops_in_order_ends_it_too(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    last = HealthRecord(seq=9, at_ms=1000, health="stopping")
    with serving(places, lambda _: [Streamed(VERSION, last), End(VERSION, 9)]):
        code = main(["tail", "--since", "8"])

    assert (code, *capsys.readouterr()) == (
        1,
        f"{line(last)}\n",
        "latchctl: the daemon went away; go on after `latchctl up` with `latchctl tail --since 9`\n",
    )


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--kind", "nonsense"], "argument --kind: invalid choice: 'nonsense'"),
        (["-n", "-1"], "argument -n: `-1` is no number from 0 up"),
        (["-n", "x"], "argument -n: `x` is no number from 0 up"),
        (["--since", "1", "-n", "2"], "argument -n: not allowed with argument --since"),
    ],
)
def test_a_wrong_option_is_one_line(
    words: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code = main(["tail", *words])

    assert code == 2
    assert capsys.readouterr().err.startswith(f"latchctl: {complaint}")
