"""What a person can get wrong, or find broken, when running `latchctl`: one line, and an exit code."""

from __future__ import annotations

from typing import Final

DONE: Final = 0
FAILED: Final = 1
USAGE: Final = 2


class CommandError(Exception):
    """The command can't go on. The text is one line for a person; the exit code is 1."""


class UsageError(CommandError):
    """The command line makes no sense. The exit code is 2."""
