"""The token: fresh, private, whole, and gone when nobody wants it."""

from __future__ import annotations

from pathlib import Path

from latchd.hook_token import provide


def test_a_token_is_fresh_private_and_what_the_file_says(tmp_path: Path) -> None:
    path = tmp_path / "hook.token"
    first = provide(str(path), wanted=True)
    second = provide(str(path), wanted=True)

    assert (path.read_text(), path.stat().st_mode & 0o777) == (second, 0o600)
    assert first != second
    assert list(tmp_path.iterdir()) == [path]


def test_an_unwanted_token_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "hook.token"
    provide(str(path), wanted=True)

    assert (provide(str(path), wanted=False), provide(str(path), wanted=False)) == (None, None)
    assert list(tmp_path.iterdir()) == []


def test_a_link_in_the_place_of_the_file_is_replaced_not_followed(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "hook.token"
    precious.write_text("keep")
    path.symlink_to(precious)
    (tmp_path / "hook.token.new").symlink_to(precious)
    token = provide(str(path), wanted=True)

    assert (precious.read_text(), path.is_symlink(), path.read_text()) == ("keep", False, token)
