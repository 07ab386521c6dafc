"""Which policy holds in a directory, and that a project's file can neither hide nor hold up the daemon."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from latchd.policy import Policy, PolicyError, Profile
from latchd.projects import Projects


def test_the_nearest_project_file_above_counts_however_deep_one_works(tmp_path: Path) -> None:
    (tmp_path / ".latchd.toml").write_text('profile = "strict"')
    deep = str(tmp_path) + "/a" * 60

    assert Projects(Policy()).policy_at(deep).profile is Profile.STRICT
    assert Projects(Policy()).policy_at("/") == Policy()
    assert Projects(Policy()).policy_at("//") == Policy()


def a_pipe(path: Path) -> str:
    os.mkfifo(path)
    return "is not a regular file"


def a_directory(path: Path) -> str:
    path.mkdir()
    return "is not a regular file"


def a_loop(path: Path) -> str:
    path.symlink_to(path)
    return "too many levels of symbolic links"


@pytest.mark.parametrize("make", [a_pipe, a_directory, a_loop])
def test_a_project_file_that_can_not_be_read_is_no_permission(
    tmp_path: Path, make: Callable[[Path], str]
) -> None:
    why = make(tmp_path / ".latchd.toml")

    with pytest.raises(PolicyError, match=why):
        Projects(Policy()).policy_at(str(tmp_path))
