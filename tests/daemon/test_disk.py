"""The disk as it is: real files, links and absences."""

from __future__ import annotations

from pathlib import Path

from latchd.disk import view, views
from latchd.files import FileView, Stamp


def test_a_file_is_there_with_its_stamp(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    status = path.stat()

    assert view(str(path)) == FileView(
        path=str(path),
        exists=True,
        real=str(path.resolve()),
        stamp=Stamp(status.st_dev, status.st_ino, 1, status.st_mtime_ns, status.st_ctime_ns),
    )


def test_a_change_changes_the_stamp(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("x")
    before = view(str(path))
    path.write_text("xy")

    assert before.seen_as(before.stamp).knowledge == "known"
    assert view(str(path)).seen_as(before.stamp).knowledge == "stale"


def test_a_link_is_seen_where_it_leads(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")

    found = view(f"{tmp_path}/link/new.txt")

    assert (found.exists, found.real) == (False, f"{tmp_path.resolve()}/real/new.txt")


def test_a_missing_path_keeps_its_tail_behind_the_deepest_ancestor(tmp_path: Path) -> None:
    found = view(f"{tmp_path}/a/b/c")

    assert (found.exists, found.real, found.fault) == (False, f"{tmp_path.resolve()}/a/b/c", "")


def test_a_repository_is_noticed(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()

    assert (view(str(tmp_path)).is_dir, view(str(tmp_path)).holds_git) == (True, True)


def test_what_can_not_be_asked_is_a_value(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")

    assert view(str(tmp_path / "loop")).fault != ""
    assert view("/a\0b").fault != ""
    assert view("/" + "x" * 5000).fault != ""


def test_a_dangling_link_is_missing_and_leads_away(tmp_path: Path) -> None:
    (tmp_path / "gone").symlink_to("/nowhere/at/all")

    found = view(str(tmp_path / "gone"))

    assert (found.exists, found.real) == (False, "/nowhere/at/all")


def test_views_are_found_by_the_path_that_was_asked_for(tmp_path: Path) -> None:
    path = f"{tmp_path}/a"

    assert views([path]) == {path: view(path)}
