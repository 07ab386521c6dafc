"""What is asked of the disk, and what a session knows of a file."""

from __future__ import annotations

from guard_cases import PROJECT, shell, write
from latch_contracts.facts import ActionFacts
from latchd.files import MAX_PROBES, FileView, Knowledge, Stamp, probe_list
from latchd.guard.subject import Subject

STAMP = Stamp(device=1, inode=2, size=3, mtime_ns=4, ctime_ns=5)


def probes(made: Subject, roots: tuple[str, ...] = ()) -> tuple[str, ...]:
    call = made.event.call
    assert call is not None
    return probe_list(call, made.facts, roots)


def test_roots_come_first_then_what_is_written_then_what_is_read() -> None:
    assert probes(shell("cat a > b"), ("~/work",)) == (
        "/home/dev/work",
        PROJECT,
        f"{PROJECT}/b",
        f"{PROJECT}/a",
    )


def test_a_glob_is_asked_for_by_the_directory_it_starts_in() -> None:
    assert probes(shell("rm -rf build/*.o")) == (PROJECT, f"{PROJECT}/build")


def test_a_discard_asks_whether_this_is_a_linked_work_tree() -> None:
    assert probes(shell("git reset --hard")) == (PROJECT, f"{PROJECT}/.git")


def test_no_more_than_a_bounded_number_of_paths_is_asked_for() -> None:
    names = " ".join(f"f{number}" for number in range(300))

    assert len(probes(shell(f"rm {names}"))) == MAX_PROBES


def test_a_path_that_is_not_known_is_not_asked_for() -> None:
    assert probes(shell("rm $X")) == (PROJECT,)


def test_a_write_tool_asks_for_its_file() -> None:
    assert probes(write(f"{PROJECT}/a")) == (PROJECT, f"{PROJECT}/a")


def test_knowledge_is_what_the_stamps_say() -> None:
    view = FileView("/x", exists=True, stamp=STAMP)
    other = Stamp(device=1, inode=2, size=9, mtime_ns=4, ctime_ns=5)

    assert view.knowledge is Knowledge.OFF
    assert view.seen_as(None).knowledge is Knowledge.UNKNOWN
    assert view.seen_as(STAMP).knowledge is Knowledge.KNOWN
    assert view.seen_as(other).knowledge is Knowledge.STALE


def test_a_file_that_was_seen_and_is_gone_is_stale() -> None:
    assert FileView("/x").seen_as(STAMP).knowledge is Knowledge.STALE


def test_facts_without_a_directory_ask_for_nothing() -> None:
    made = shell("ls", cwd="")
    assert isinstance(made.facts, ActionFacts)

    assert probes(made) == ()
