"""A mount that does not answer: asked once, waited for a moment, and refused until it does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_bench import Bench, only
from latch_contracts.records import VerdictRecord
from latchd import disk
from latchd.files import FileView
from latchd.hanging import Hanging, Table, Unanswered
from latchd.projects import Projects


class Stuck:
    """A mount at a directory whose every question waits until it is ``released``."""

    def __init__(self, place: Path) -> None:
        self.place = str(place)
        self.released = threading.Event()
        self.asked: list[int] = []
        self.hanging = Hanging(lambda: (self.place,), seconds=0.001)

    def question(self) -> str:
        self.asked.append(threading.get_ident())
        self.released.wait()
        return "answer"


@pytest.fixture
def stuck(tmp_path: Path) -> Iterator[Stuck]:
    made = Stuck(tmp_path / "net")
    yield made
    made.released.set()


def test_what_meets_no_such_mount_is_asked_right_here(stuck: Stuck, tmp_path: Path) -> None:
    stuck.released.set()

    assert stuck.hanging.ask([str(tmp_path / "a")], stuck.question) == "answer"
    assert stuck.asked == [threading.get_ident()]


def test_what_lies_on_one_is_asked_elsewhere(stuck: Stuck) -> None:
    stuck.released.set()
    hanging = Hanging(lambda: (stuck.place,), seconds=60)

    assert hanging.ask([f"{stuck.place}/a"], stuck.question) == "answer"
    assert threading.get_ident() not in stuck.asked


def test_what_is_raised_there_is_raised_here(stuck: Stuck) -> None:
    def fail() -> str:
        raise PermissionError("no")

    hanging = Hanging(lambda: (stuck.place,), seconds=60)
    with pytest.raises(PermissionError, match="no"):
        hanging.ask([stuck.place], fail)


def test_a_mount_that_hangs_is_asked_once_until_it_answers(stuck: Stuck) -> None:
    told: list[str] = []
    for _ in range(5):
        with pytest.raises(Unanswered) as caught:
            stuck.hanging.ask([f"{stuck.place}/a"], stuck.question)
        told.append(str(caught.value))
    stuck.released.set()
    for thread in threading.enumerate():
        if thread.name == f"latchd asks {stuck.place}":
            thread.join()
    stuck.hanging.seconds = 60

    assert told == [
        f"`{stuck.place}` did not answer within 0.001 s",
        *[f"`{stuck.place}` still does not answer"] * 4,
    ]
    assert len(stuck.asked) == 1
    assert stuck.hanging.ask([f"{stuck.place}/a"], stuck.question) == "answer"


def test_the_kernels_table_is_read() -> None:
    assert Table().mounts() == Table().mounts()
    assert Table("/nowhere/mountinfo").mounts() == ()


@pytest.fixture
def bench(tmp_path: Path, stuck: Stuck, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    """An engine whose every look at ``net`` hangs."""
    look = disk.look

    def hangs(path: str) -> FileView:
        if path.startswith(stuck.place):
            stuck.question()
        return look(path)

    monkeypatch.setattr(disk, "_hanging", stuck.hanging)
    monkeypatch.setattr(disk, "look", hangs)
    made = Bench(tmp_path)
    yield made
    made.engine.close()


def test_a_call_that_touches_it_is_refused_and_others_are_not(
    bench: Bench, stuck: Stuck, tmp_path: Path
) -> None:
    (bench.project / "link").symlink_to(stuck.place)
    commands = (f"rm -rf {stuck.place}/a", "touch link/a", "touch a", "git status")
    rules = [only(bench.pre(command, f"c{at}"), VerdictRecord).rule for at, command in enumerate(commands)]

    assert rules == ["floor.disk-unanswered", "floor.disk-unanswered", None, None]
    assert len(stuck.asked) == 1


def test_a_result_from_it_is_settled_and_makes_no_file_known(bench: Bench, stuck: Stuck) -> None:
    path = f"{stuck.place}/a"
    read: dict[str, Any] = {"tool_name": "Read", "tool_input": {"file_path": path}}
    stuck.released.set()
    patient = Hanging(lambda: (stuck.place,), seconds=60)
    with pytest.MonkeyPatch.context() as answering:
        answering.setattr(disk, "_hanging", patient)
        bench.pre(call="c1", **read)
    stuck.released.clear()
    bench.post(call="c1", **read)

    assert bench.states("c1") == [("succeeded", True)]


def test_where_a_session_works_on_it_every_call_is_refused(
    bench: Bench, stuck: Stuck, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The project's own policy lies there, and can't be asked for."""

    def policy_at(_: Projects, __: str) -> str:
        return stuck.question()

    monkeypatch.setattr(Projects, "policy_at", policy_at)
    handled = bench.pre("git status", cwd=f"{stuck.place}/project")

    record = only(handled, VerdictRecord)
    assert record.rule == "floor.disk-unanswered"
    assert f"`{stuck.place}` did not answer within 0.001 s" in record.reason
