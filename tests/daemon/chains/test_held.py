"""The set of files that hold secrets, by digests, and what proven calls do to it."""

from __future__ import annotations

import hashlib

from latchd.chains.catalogue import NOTHING, Step
from latchd.chains.content import Change as Plain
from latchd.chains.content import Content, Flows, Source
from latchd.chains.held import WINDOW_MS, Carried, Held, after, carried, read, recent, written
from latchd.windows import Instant

BOOT, OTHER = bytes(16), bytes([1]) * 16
SECRET = Step.SECRET_READ


def key(path: str) -> bytes:
    return hashlib.sha256(path.encode()).digest()


def at(ms: int, boot: bytes = BOOT) -> Instant:
    return Instant(boot, ms * 1_000_000, 10**9 + ms)


def held(path: str, seq: int = 1, ms: int = 0) -> Held:
    parts = path.split("/")[1:-1]
    above = [key("/" + "/".join(parts[: end + 1])) for end in reversed(range(len(parts)))]
    return Held(key(path), b"".join(above), SECRET, seq, at(ms))


def change(path: str, *sources: Source, origin: Step = NOTHING, recursive: bool = False) -> Flows:
    return Flows((Plain(path, Content(origin, frozenset(sources)), recursive),))


def applied(flows: Flows, *before: Held) -> set[bytes]:
    kept, gone = after(read(written(flows, key)), before, 9, at(5))
    return ({one.path for one in before} - set(gone)) | {one.path for one in kept}


def test_a_secret_marks_a_file_with_the_seq_and_the_time_of_its_proof() -> None:
    kept, gone = after(read(written(change("/a/b/x", origin=SECRET), key)), [], 9, at(5))

    assert (kept, gone) == ([Held(key("/a/b/x"), key("/a/b") + key("/a"), SECRET, 9, at(5))], [])


def test_a_copy_carries_and_another_content_clears() -> None:
    assert applied(change("/z", Source("/x")), held("/x")) == {key("/x"), key("/z")}
    assert applied(change("/x", Source("/y")), held("/x")) == set()
    assert applied(change("/x"), held("/x")) == set()
    assert applied(change("/y"), held("/x")) == {key("/x")}


def test_all_changes_of_a_call_count_against_what_was_before_it() -> None:
    swap = Flows((*change("/a", Source("/b")).changes, *change("/b", Source("/a")).changes))

    assert applied(swap, held("/a")) == {key("/b")}


def test_a_directory_taken_whole_carries_what_lies_in_it() -> None:
    assert applied(change("/t", Source("/d", recursive=True)), held("/d/e/x")) == {key("/d/e/x"), key("/t")}
    assert applied(change("/t", Source("/d")), held("/d/e/x")) == {key("/d/e/x")}


def test_a_directory_removed_whole_takes_what_lies_in_it() -> None:
    assert applied(change("/d", recursive=True), held("/d/e/x"), held("/x")) == {key("/x")}
    assert applied(change("/d"), held("/d/e/x")) == {key("/d/e/x")}


def test_origins_add_up() -> None:
    flows = change("/z", Source("/x"), origin=Step.SECRET_MANAGER_READ)

    assert after(read(written(flows, key)), [held("/x")], 9, at(5))[0][0].origin == (
        SECRET | Step.SECRET_MANAGER_READ
    )


def test_what_is_sent_is_found_earliest_proof_first() -> None:
    sent = [Source("/x"), Source("/d", recursive=True), Source("/y")]

    assert carried(sent, [held("/x", 5), held("/d/k", 3), held("/z", 1)], key) == (
        Carried("/d", SECRET, 3, at(0)),
        Carried("/x", SECRET, 5, at(0)),
    )


def test_the_window_ends_after_its_last_millisecond_and_no_clock_sets_it_back() -> None:
    one = held("/x")

    assert recent([one], at(WINDOW_MS)) == [one]
    assert recent([one], at(WINDOW_MS + 1)) == []
    assert recent([one], Instant(OTHER, 0, 0)) == [one]


def test_nothing_is_written_for_nothing_and_what_can_not_be_read_changes_nothing() -> None:
    assert (written(Flows(), key), read(b""), read(b"\xc1"), read(b"\x90")) == (b"", [], [], [])


def test_no_path_is_in_what_is_written() -> None:
    assert b"canary" not in written(change("/canary/x", Source("/canary/y"), origin=SECRET), key)
