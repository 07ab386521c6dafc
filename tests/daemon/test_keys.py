"""Keyed digests and the key file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from latchd.keys import KEY_BYTES, KeyFileError, Keys, load_or_create, shown

KEYS = Keys(bytes(range(KEY_BYTES)))


def test_equal_ids_of_different_kinds_sessions_and_connectors_never_collide() -> None:
    digests = [
        KEYS.session("a", "x"),
        KEYS.session("b", "x"),
        KEYS.agent("a", "x", "x"),
        KEYS.call("a", "x", "", "x"),
        KEYS.call("a", "x", "x", "x"),
        KEYS.call("a", "y", "", "x"),
        KEYS.call_name("a", "x"),
        KEYS.turn("a", "x", "x"),
        KEYS.path(KEYS.session("a", "x"), "x"),
    ]

    assert len(set(digests)) == len(digests)
    assert {len(digest) for digest in digests} == {32}


def test_moving_a_boundary_between_parts_gives_another_digest() -> None:
    assert KEYS.call("a", "bc", "", "d") != KEYS.call("a", "b", "c", "d")


def test_another_key_gives_other_digests() -> None:
    assert Keys(bytes(KEY_BYTES)).session("a", "x") != KEYS.session("a", "x")


def test_ids_with_lone_surrogates_are_digested() -> None:
    assert len(KEYS.call("a", "\ud800", "", "x")) == 32


def test_the_main_agent_has_the_empty_digest() -> None:
    assert KEYS.agent("a", "x", "") == b""


def test_shown_is_short_hex() -> None:
    assert shown(bytes([0xAB]) * 32) == "abababababababab"


def test_the_key_file_is_made_once_and_private(tmp_path: Path) -> None:
    path = tmp_path / "latchd.key"

    first = load_or_create(path).session("a", "x")
    again = load_or_create(path).session("a", "x")

    assert first == again
    assert path.stat().st_mode & 0o777 == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["latchd.key"]


def test_a_key_file_open_to_others_is_refused_with_the_way_out(tmp_path: Path) -> None:
    path = tmp_path / "latchd.key"
    load_or_create(path)
    path.chmod(0o644)

    with pytest.raises(KeyFileError, match=r"is open to others; run: chmod 600"):
        load_or_create(path)


def test_a_key_file_of_the_wrong_length_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "latchd.key"
    path.touch(0o600)
    path.write_bytes(b"short")

    with pytest.raises(KeyFileError, match="a key has 32 bytes, this one 5"):
        load_or_create(path)


def test_a_symlink_in_the_key_files_place_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(bytes(KEY_BYTES))
    (tmp_path / "latchd.key").symlink_to(tmp_path / "elsewhere")

    with pytest.raises(KeyFileError, match="Too many levels of symbolic links"):
        load_or_create(tmp_path / "latchd.key")


def test_the_key_file_is_whole_and_private_at_every_moment_of_its_making(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "latchd.key"
    real = os.link
    seen: list[tuple[bool, int, int]] = []

    def watched(source: Path, target: Path) -> None:
        status = source.stat()
        seen.append((path.exists(), status.st_mode & 0o777, status.st_size))
        real(source, target)

    monkeypatch.setattr(os, "link", watched)
    old = os.umask(0)
    try:
        load_or_create(path)
    finally:
        os.umask(old)

    assert seen == [(False, 0o600, KEY_BYTES)]
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_first_starts_end_with_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "latchd.key"
    real = os.link

    def late(source: Path, target: Path) -> None:
        """Another daemon was first."""
        Path(f"{target}.other").write_bytes(bytes(KEY_BYTES))
        Path(f"{target}.other").chmod(0o600)
        Path(f"{target}.other").rename(target)
        real(source, target)

    monkeypatch.setattr(os, "link", late)

    assert load_or_create(path).session("a", "x") == Keys(bytes(KEY_BYTES)).session("a", "x")
    assert [entry.name for entry in tmp_path.iterdir()] == ["latchd.key"]
