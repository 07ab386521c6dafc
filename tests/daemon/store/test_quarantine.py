"""A damaged database moves out of the way whole, even when the move itself is cut short."""

from __future__ import annotations

from pathlib import Path

import pytest

from latchd.store import quarantine
from latchd.store.database import Database

JUNK = b"not a database at all" * 500


class Death(BaseException):
    """The process ends here."""


def damaged(root: Path) -> Path:
    path = root / "latchd.db"
    path.write_bytes(JUNK)
    for side in ("-wal", "-shm", "-journal"):
        path.with_name(f"latchd.db{side}").write_bytes(side.encode())
    return path


def aside(root: Path) -> dict[str, bytes]:
    return {one.name: one.read_bytes() for one in sorted(root.glob("*.corrupt-*"))}


WHOLE = {
    "latchd.db.corrupt-1": JUNK,
    "latchd.db.corrupt-1-journal": b"-journal",
    "latchd.db.corrupt-1-shm": b"-shm",
    "latchd.db.corrupt-1-wal": b"-wal",
}


def test_the_file_goes_with_all_its_companions(tmp_path: Path) -> None:
    assert quarantine.move_aside(damaged(tmp_path)) == tmp_path / "latchd.db.corrupt-1"
    assert aside(tmp_path) == WHOLE
    assert set(tmp_path.glob("latchd.db*")) == set(tmp_path.glob("*.corrupt-*"))


@pytest.mark.parametrize("renamed", [0, 1, 2, 3])
def test_a_move_that_was_cut_short_is_completed_before_a_new_file_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    path = damaged(tmp_path)
    real = Path.rename
    left = [renamed]

    def rename(self: Path, target: Path) -> Path:
        if left[0] == 0:
            raise Death
        left[0] -= 1
        return real(self, target)

    monkeypatch.setattr(Path, "rename", rename)
    with pytest.raises(Death):
        Database.open(path)
    monkeypatch.undo()
    database = Database.open(path)

    # SQLite throws a false journal away, and makes its shared memory anew, before it looks at the file.
    assert [aside(tmp_path).get(f"latchd.db.corrupt-1{side}") for side in ("", "-wal")] == [JUNK, b"-wal"]
    assert database.row("SELECT count(*) FROM records") == (0,)
    assert database.moved_aside == ("" if renamed >= 2 else f"{path}.corrupt-1")
    database.close()


def test_a_log_without_its_file_is_kept_under_a_number_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    path.with_name("latchd.db.corrupt-1").write_bytes(b"an earlier one")
    path.with_name("latchd.db.corrupt-1-wal").write_bytes(b"and its log")
    path.with_name("latchd.db-wal").write_bytes(b"a later log")

    assert quarantine.finish(path) == tmp_path / "latchd.db.corrupt-2"
    assert aside(tmp_path) == {
        "latchd.db.corrupt-1": b"an earlier one",
        "latchd.db.corrupt-1-wal": b"and its log",
        "latchd.db.corrupt-2-wal": b"a later log",
    }


def test_a_file_that_was_emptied_goes_with_the_log_that_has_its_content(tmp_path: Path) -> None:
    path = tmp_path / "latchd.db"
    path.touch()
    path.with_name("latchd.db-wal").write_bytes(b"log")

    database = Database.open(path)

    assert database.moved_aside == f"{path}.corrupt-1"
    assert aside(tmp_path) == {"latchd.db.corrupt-1": b"", "latchd.db.corrupt-1-wal": b"log"}
    database.close()


@pytest.mark.parametrize("log", [None, b""])
def test_nothing_is_moved_where_nothing_is_wrong(tmp_path: Path, log: bytes | None) -> None:
    path = tmp_path / "latchd.db"
    if log is not None:
        path.with_name("latchd.db-wal").write_bytes(log)

    assert quarantine.finish(path) is None
