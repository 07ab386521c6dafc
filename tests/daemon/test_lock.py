"""One daemon per directory, and directories that nobody else can enter."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

import pytest

from latchd.lock import RefusedToStart, held, private_directory


def test_a_private_directory_is_made_with_its_parents(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b"
    private_directory(str(path), "runtime directory")
    private_directory(str(path), "runtime directory")

    assert path.stat().st_mode & 0o7777 == 0o700


@pytest.mark.parametrize("mode", [0o755, 0o770, 0o701, 0o1777])
def test_a_directory_open_to_others_is_refused_and_stays_as_it_is(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "d"
    path.mkdir()
    path.chmod(mode)

    with pytest.raises(
        RefusedToStart, match=rf"`{path}` is open to others \(mode {mode:04o}\); run: chmod 700"
    ):
        private_directory(str(path), "runtime directory")
    assert path.stat().st_mode & 0o7777 == mode


def test_others_may_read_the_state_directory_but_not_write_it(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    private_directory(str(tmp_path), "state directory", readable=True)
    tmp_path.chmod(0o775)

    with pytest.raises(RefusedToStart, match="open to others"):
        private_directory(str(tmp_path), "state directory", readable=True)


def test_a_link_or_a_file_is_no_directory_of_ours(tmp_path: Path) -> None:
    target, link, file = tmp_path / "target", tmp_path / "link", tmp_path / "file"
    target.mkdir(mode=0o700)
    link.symlink_to(target)
    file.write_text("")

    with pytest.raises(RefusedToStart, match="is a symbolic link; name the directory itself"):
        private_directory(str(link), "runtime directory")
    with pytest.raises(RefusedToStart, match="is not a directory"):
        private_directory(str(file), "runtime directory")
    with pytest.raises(RefusedToStart, match="can't be made: file exists"):
        private_directory(str(file / "below"), "runtime directory")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a directory of another user")
def test_a_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "d"
    path.mkdir(mode=0o700)
    os.chown(path, 1234, 1234)

    with pytest.raises(RefusedToStart, match="belongs to user 1234, not to you"):
        private_directory(str(path), "runtime directory")


def test_the_lock_holds_our_pid_and_refuses_a_second_holder_by_name(tmp_path: Path) -> None:
    path = tmp_path / "latchd.lock"
    with held(str(path)):
        assert path.read_text() == f"{os.getpid()}\n"
        with (
            pytest.raises(RefusedToStart, match=f"another latchd runs here, pid {os.getpid()} "),
            held(str(path)),
        ):
            pass
        assert path.read_text() == f"{os.getpid()}\n"

    with held(str(path)):
        assert path.stat().st_mode & 0o777 == 0o600


def test_a_killed_holder_leaves_no_lock(tmp_path: Path) -> None:
    path = tmp_path / "latchd.lock"
    script = (
        "import sys, signal, os; from latchd.lock import held\n"
        "with held(sys.argv[1]): os.kill(os.getpid(), signal.SIGKILL)"
    )
    killed = subprocess.run(
        [sys.executable, "-c", script, str(path)], check=False, env={"PYTHONPATH": ":".join(sys.path)}
    )

    assert killed.returncode == -9
    assert path.read_text() != ""
    with held(str(path)):
        assert path.read_text() == f"{os.getpid()}\n"


def test_somebody_who_only_asks_does_not_look_like_a_daemon(tmp_path: Path) -> None:
    """`latchctl` asks with a shared lock. As long as one is held, ours has to wait, not to claim."""
    path = tmp_path / "latchd.lock"
    path.write_text("99999\n")
    asking = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(asking, fcntl.LOCK_SH)
        with pytest.raises(RefusedToStart, match="is being looked at"), held(str(path)):
            pass
    finally:
        os.close(asking)


def test_a_lock_file_that_is_a_link_is_refused(tmp_path: Path) -> None:
    precious, path = tmp_path / "precious", tmp_path / "latchd.lock"
    precious.write_text("keep")
    path.symlink_to(precious)

    with pytest.raises(RefusedToStart, match="can't be opened"), held(str(path)):
        pass
    assert precious.read_text() == "keep"
