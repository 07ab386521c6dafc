"""The user units: where they come from, what they become here, and the commands that start them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

import latch_client
from latch_client.install import files, where
from latch_client.install.errors import InstallError

# The sockets first: a service that is stopped alone is started again by the next hook.
UNITS: Final = ("latchd-hook.socket", "latchd-events.socket", "latchd.service")
COMMANDS: Final = (
    ("systemctl", "--user", "daemon-reload"),
    ("systemctl", "--user", "enable", "--now", *UNITS),
)
START: Final = ("systemctl", "--user", "start", "latchd.service")
STOP: Final = ("systemctl", "--user", "stop", *UNITS)
STOP_COMMANDS: Final = (STOP, COMMANDS[0])
SECONDS: Final = 60  # a start waits for READY=1, which a loaded machine may delay

_EXEC_START: Final = re.compile(r"^ExecStart=(?P<prefix>[-@:+!|]*)(?P<program>\S+)", re.MULTILINE)


class Unit(msgspec.Struct, frozen=True):
    """One unit file: what is there (None: nothing) and what is to be there."""

    path: Path
    before: bytes | None
    after: bytes

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        return files.diff(self.path, self.before, self.after)


def source() -> Path:
    """Where the units are: in the installed package, or at the top of a checkout. Raises InstallError."""
    package = Path(latch_client.__file__).resolve().parent
    for directory in (package / "units", package.parents[1] / "systemd"):
        if all((directory / name).is_file() for name in UNITS):
            return directory
    raise InstallError("this installation of latchd has no systemd units with it")


def directory() -> Path:
    return where.config_home() / "systemd" / "user"


def daemon_command() -> list[str]:
    """How to start the daemon on this machine, by absolute path."""
    beside = Path(sys.executable).with_name("latchd")
    if beside.is_file():
        return [str(beside)]
    found = shutil.which("latchd")
    return [str(Path(found).absolute())] if found else [sys.executable, "-P", "-m", "latchd"]


def with_program(unit: str, command: list[str]) -> str:
    """A unit whose ExecStart runs ``command``; the arguments behind the program's name stay."""
    words = " ".join(map(_word, command))
    return _EXEC_START.sub(lambda found: f"ExecStart={found['prefix']}{words}", unit)


def plan(command: list[str]) -> list[Unit]:
    """The units that belong on this machine. Raises InstallError."""
    origin, target = source(), directory()
    return [
        Unit(
            path=target / name,
            before=files.read(target / name),
            after=with_program((origin / name).read_text("utf-8"), command).encode(),
        )
        for name in UNITS
    ]


def place(units: list[Unit]) -> list[Path]:
    """Write what changes; gives the backups of files that were there with another content."""
    kept: list[Path] = []
    for unit in units:
        if unit.changes:
            kept += [] if unit.before is None else [files.back_up(unit.path, unit.before)]
            files.replace(unit.path, unit.before, unit.after)
    return kept


def placed() -> list[Path]:
    """What is there of us: the links by which systemd has enabled the units, then the units."""
    links = [link for name in UNITS for link in directory().glob(f"*.wants/{name}") if link.is_symlink()]
    return sorted(links) + [path for name in UNITS if (path := directory() / name).is_file()]


def remove(paths: list[Path]) -> None:
    """Remove what :func:`placed` found. Raises InstallError."""
    for path in paths:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            raise InstallError(f"`{path}` can't be removed: {error.strerror}") from error


def start() -> None:
    """Run COMMANDS. Raises InstallError."""
    for command in COMMANDS:
        run(command)


def run(command: Sequence[str]) -> None:
    """Run one command of systemctl. Raises InstallError with the last line of what it said."""
    text = " ".join(command)
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except FileNotFoundError as error:
        raise InstallError("there is no `systemctl` here; do without --systemd") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise InstallError(f"`{text}` can't be run: {error}") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise InstallError(f"`{text}` failed: {said[-1]}")


def _word(word: str) -> str:
    """As systemd reads it: percent signs and dollars are its own, blanks and quotes need quoting."""
    text = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[A-Za-z0-9_./+:@%$=,-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
