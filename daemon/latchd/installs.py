"""What the installer wrote where, read back: agent versions, and whether our hooks are still in place."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import msgspec

from latch_contracts.connectors.claudecode import settings as claude_settings

# The largest settings file looked at. Real ones are a few KiB; a bigger one is refused as unreadable.
_MAX_SETTINGS = 4 * 1024 * 1024


class Install(msgspec.Struct, frozen=True):
    """One entry of installs.json."""

    settings: str = ""
    line: str = ""
    events: list[str] = []
    agent_version: str = ""


class Installs:
    """The file at ``path``, read again whenever it changes; a missing or broken one is empty."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp: tuple[int, int] | None = None
        self._entries: dict[str, Install] = {}

    def entry(self, connector: str) -> Install | None:
        try:
            status = self._path.stat()
            stamp = (status.st_mtime_ns, status.st_size)
            if stamp != self._stamp:
                self._entries = msgspec.json.decode(self._path.read_bytes(), type=dict[str, Install])
                self._stamp = stamp
        except (OSError, msgspec.DecodeError):
            self._entries, self._stamp = {}, None
        return self._entries.get(connector)

    def agent_version(self, connector: str) -> str:
        """The version the installer saw, "" when it saw none."""
        entry = self.entry(connector)
        return "" if entry is None else entry.agent_version

    def change_refused(self, connector: str, source: str, path: str) -> str:
        """Why this settings change must not be loaded, "" when it may.

        Asked while the agent still runs its old settings: a refusal keeps our hooks for the session.
        """
        if source == "policy_settings" or not path:
            return ""  # the agent does not let a hook refuse its administrator
        entry = self.entry(connector)
        body = _read(Path(path))
        ours = entry is not None and entry.settings != "" and _real(entry.settings) == _real(path)
        if body is None:
            return "the settings file that held latchd's hooks is gone or unreadable" if ours else ""
        if ours and entry is not None:
            problems = claude_settings.hook_problems(body, entry.line, entry.agent_version)
        else:
            problems = claude_settings.switch_problems(body)
        return f"this change would switch latchd's hooks off: {problems[0]}" if problems else ""


def _read(path: Path) -> bytes | None:
    """A regular file's bytes; None for everything else. The path is the payload's: a pipe or a device
    named there must not hold up the daemon."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY)
    except (OSError, ValueError):  # ValueError: a NUL in the path
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_size > _MAX_SETTINGS:
            return None
        with os.fdopen(os.dup(descriptor), "rb") as file:
            return file.read(_MAX_SETTINGS)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, ValueError):
        return path
