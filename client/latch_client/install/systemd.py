"""The user units: where they come from, what they become here, and the commands that start them."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import msgspec

import latch_client
from latch_client.install import files, where
from latch_client.install.errors import InstallError

UNITS: Final = ("latchd.service", "latchd-hook.socket", "latchd-events.socket")
COMMANDS: Final = (
    ("systemctl", "--user", "daemon-reload"),
    (
        "systemctl",
        "--user",
        "enable",
        "--now",
        "latchd-hook.socket",
        "latchd-events.socket",
        "latchd.service",
    ),
)

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


def remove() -> list[Path]:
    """Remove our units; gives those that were there. Raises InstallError."""
    gone: list[Path] = []
    for name in UNITS:
        path = directory() / name
        content = files.read(path)
        if content is not None:
            files.remove(path, content)
            gone.append(path)
    return gone


def start() -> None:
    """Run COMMANDS. Raises InstallError with what systemctl said."""
    for command in COMMANDS:
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise InstallError(f"`{' '.join(command)}` can't be run: {error}") from error
        if done.returncode != 0:
            why = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
            raise InstallError(f"`{' '.join(command)}` failed: {why}")


def _word(word: str) -> str:
    """As systemd reads it: percent signs and dollars are its own, blanks and quotes need quoting."""
    text = word.replace("%", "%%").replace("$", "$$")
    if re.fullmatch(r"[A-Za-z0-9_./+:@%$=,-]+", text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
