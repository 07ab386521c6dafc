"""Files of other programs, changed whole or not at all, and never without a copy of what was there."""

from __future__ import annotations

import contextlib
import difflib
import os
import stat
import tempfile
from pathlib import Path
from typing import Final

from latch_client.install.errors import InstallError

BACKUP_SUFFIX: Final = ".latchd-backup"
MAX_SETTINGS: Final = 4 * 1024 * 1024  # bytes; real ones are a few KiB
_MAX_BACKUPS: Final = 1000


def read(path: Path) -> bytes | None:
    """The file's bytes, None when there is no file. Raises InstallError when it can't be read."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InstallError(f"`{path}` is not a file")
        if status.st_size > MAX_SETTINGS:
            raise InstallError(
                f"`{path}` has {status.st_size} bytes, more than the {MAX_SETTINGS} that are read"
            )
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstallError(f"`{path}` can't be read: {error.strerror}") from error


def replace(path: Path, before: bytes | None, after: bytes) -> None:
    """Put ``after`` where ``before`` was (None: no file), in one step, through a symbolic link to its target.

    Raises InstallError, with the file untouched, when it can't be written or is no longer ``before``.
    """
    target = Path(os.path.realpath(path))
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if before is None else stat.S_IMODE(target.stat().st_mode)
        descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
        try:
            with open(descriptor, "wb") as file:  # noqa: PTH123 — a descriptor has no Path
                os.fchmod(descriptor, mode)
                file.write(after)
                file.flush()
                os.fsync(descriptor)
            _check(target, before)
            os.replace(name, target)  # noqa: PTH105 — beside os.open and os.fsync
        except BaseException:
            with contextlib.suppress(FileNotFoundError):
                Path(name).unlink()
            raise
        _sync(target.parent)
    except OSError as error:
        raise InstallError(f"`{path}` can't be written: {error.strerror}") from error


def remove(path: Path, before: bytes | None) -> None:
    """Remove a file that still is ``before``. Raises InstallError."""
    _check(path, before)
    try:
        Path(os.path.realpath(path)).unlink()
    except OSError as error:
        raise InstallError(f"`{path}` can't be removed: {error.strerror}") from error


def back_up(path: Path, content: bytes) -> Path:
    """A file beside ``path`` with exactly ``content``; numbered when another content has the name already."""
    target = Path(os.path.realpath(path))
    for number in range(_MAX_BACKUPS):
        backup = target.with_name(f"{target.name}{BACKUP_SUFFIX}{f'.{number}' if number else ''}")
        there = read(backup)
        if there is None:
            replace(backup, None, content)
        if there is None or there == content:
            return backup
    raise InstallError(f"there are {_MAX_BACKUPS} backups of `{path}` already; remove some")


def backups(path: Path) -> list[Path]:
    """The backups of a file, newest number first."""
    target = Path(os.path.realpath(path))
    found: list[Path] = []
    for number in range(_MAX_BACKUPS):
        backup = target.with_name(f"{target.name}{BACKUP_SUFFIX}{f'.{number}' if number else ''}")
        if not backup.exists():
            break
        found.append(backup)
    return found[::-1]


def diff(path: Path, before: bytes | None, after: bytes | None) -> str:
    """The change as a unified diff, "" when there is none."""
    lines = difflib.unified_diff(
        (before or b"").decode("utf-8", "replace").splitlines(keepends=True),
        (after or b"").decode("utf-8", "replace").splitlines(keepends=True),
        "/dev/null" if before is None else str(path),
        "/dev/null" if after is None else str(path),
    )
    return "".join(
        line if line.endswith("\n") else f"{line}\n\\ no newline at end of file\n" for line in lines
    )


def _check(path: Path, before: bytes | None) -> None:
    if read(path) != before:
        raise InstallError(f"`{path}` was changed by someone else meanwhile; run the command again")


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
