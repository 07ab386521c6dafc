"""Whether a settings change takes our hooks away, whatever path a payload names."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from latchd.installs import Install, Installs

GONE = "the settings file that held latchd's hooks is gone or unreadable"


def installs(root: Path, settings: Path) -> Installs:
    entry = Install(settings=str(settings), line="hook-line")
    (root / "installs.json").write_bytes(msgspec.json.encode({"claudecode": entry}))
    return Installs(root / "installs.json")


def a_pipe(path: Path) -> None:
    os.mkfifo(path)


def a_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def a_directory(path: Path) -> None:
    path.mkdir()


def a_huge_file(path: Path) -> None:
    path.write_bytes(b"")
    os.truncate(path, 1 << 33)


@pytest.mark.parametrize("make", [a_pipe, a_device, a_directory, a_huge_file])
def test_what_is_no_settings_file_is_unreadable_and_holds_nobody_up(
    tmp_path: Path, make: Callable[[Path], None]
) -> None:
    settings = tmp_path / "settings.json"
    make(settings)

    assert installs(tmp_path, settings).change_refused("claudecode", "user_settings", str(settings)) == GONE
    assert installs(tmp_path, tmp_path / "x").change_refused("claudecode", "", str(settings)) == ""


@pytest.mark.parametrize("path", ["/a\0b", "/" + "x" * 5000, "relative.json"])
def test_a_path_that_can_not_be_is_nothing_of_ours(tmp_path: Path, path: str) -> None:
    assert installs(tmp_path, tmp_path / "s.json").change_refused("claudecode", "user_settings", path) == ""


def test_our_file_is_ours_under_every_spelling(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text("{}")
    (tmp_path / "link.json").symlink_to(settings)
    ours = installs(tmp_path, settings)

    for spelling in (f"{tmp_path}/./settings.json", f"{tmp_path}/link.json"):
        assert "would switch latchd's hooks off" in ours.change_refused("claudecode", "", spelling)
