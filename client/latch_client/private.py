"""A daemon of one's own in a temporary directory: what the demo and the bench talk to, never the user's."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import msgspec

from latch_client import hook, running
from latch_contracts.places import Places


class Private(msgspec.Struct, frozen=True):
    """``environ`` is what the hook and the daemon run with, and nothing else."""

    places: Places
    home: Path
    environ: dict[str, str]
    pid: int

    @property
    def hook_argv(self) -> list[str]:
        """The installed hook line, as a list."""
        return [sys.executable, "-IS", str(Path(hook.__file__).resolve()), "claudecode"]


@contextlib.contextmanager
def daemon(*, config: str = "") -> Generator[Private]:
    """A running daemon with fresh state, stopped and removed at the end. Raises CommandError."""
    with tempfile.TemporaryDirectory(prefix="latchd-") as root:
        places = Places(runtime=f"{root}/run", state=f"{root}/state", config=f"{root}/config")
        home = Path(root) / "home"
        for directory in (home, Path(places.config)):
            directory.mkdir(mode=0o700)
        Path(places.config_file).write_text(config, encoding="utf-8")
        environ = {
            "HOME": str(home),
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
            "LATCHD_RUNTIME_DIR": places.runtime,
            "LATCHD_STATE_DIR": places.state,
            "LATCHD_CONFIG_DIR": places.config,
        }
        encoded = {os.fsencode(name): os.fsencode(value) for name, value in environ.items()}
        pid, _ = running.start(places, environ=encoded)
        try:
            yield Private(places, home, environ, pid)
        finally:
            running.stop(places)
