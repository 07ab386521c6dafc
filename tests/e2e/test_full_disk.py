"""A file system without room: refusals that say so, nothing promoted, all well when there is room again."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SIZE = "2m"


def in_a_namespace(*command: str) -> list[str]:
    """The command where mounts are its own; the person's file systems are not touched."""
    return ["unshare", "--user", "--map-root-user", "--mount", *command]


def permitted() -> bool:
    if shutil.which("unshare") is None or shutil.which("mount") is None:
        return False
    done = subprocess.run(
        in_a_namespace("mount", "-t", "tmpfs", "none", "/mnt"), capture_output=True, check=False
    )
    return done.returncode == 0


@pytest.mark.skipif(not permitted(), reason="a file system of our own needs user and mount namespaces")
def test_a_file_system_without_room_promotes_nothing_and_is_got_over_without_a_restart(root: Path) -> None:
    state = root / "state"
    state.mkdir(mode=0o700)
    script = (
        f"mount -t tmpfs -o size={SIZE},mode=0700 none {shlex.quote(str(state))} && "
        f"exec {shlex.join([sys.executable, '-m', 'full_disk', str(root)])}"
    )
    done = subprocess.run(
        in_a_namespace("sh", "-c", script),
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )

    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {
        "refused": [True] * 5,
        "alive": True,
        "full": ["degraded", True],
        "after": [True, "ok"],
        "allowed": ["before", "open", "after"],
        "promoted": ["before", "after"],
        "unrecorded": 6,
        "steps": [2],
        "copied": [1, []],
        "code": 0,
        "wrong": [],
    }
