"""The one command line that an agent runs for every hook, written and recognised.

No secret may ever stand in it: agents show it to the model when a hook refuses or fails.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

import latch_client
from latch_client.install.errors import InstallError

HOOK: Final = Path(latch_client.__file__).resolve().parent / "hook.py"

# Anything that runs a latch_client/hook.py for a connector is ours, whichever interpreter or checkout
# it names: an older one must be found and replaced, not joined.
_OURS: Final = re.compile(r'/latch_client/hook\.py"? (?P<connector>[a-z]+)(?: |$)')

_WORDS: Final = re.compile(r'"((?:[^"\\]|\\.)+)" -IS "((?:[^"\\]|\\.)+)" ')
_ESCAPE: Final = re.compile(r"\\(.)")


def hook_line(
    connector: str, *, fail_open: bool, autostart: bool, python: str = sys.executable, hook: Path = HOOK
) -> str:
    """The shell command. Raises InstallError when a path can't stand in one."""
    words = [_quoted(python), "-IS", _quoted(str(hook)), connector]
    words += ["--fail-open"] if fail_open else []
    words += ["--autostart"] if autostart else []
    return " ".join(words)


def is_ours(handler: Mapping[str, Any], connector: str) -> bool:
    """Whether a handler of a settings file runs this program's hook for ``connector``."""
    command = handler.get("command")
    found = _OURS.search(command) if isinstance(command, str) else None
    return found is not None and found["connector"] == connector


class HookWords(msgspec.Struct, frozen=True):
    """The two paths of a hook line."""

    python: str
    hook: str


def words_of(line: str) -> HookWords | None:
    """The paths in a line that :func:`hook_line` wrote, None for any other line."""
    found = _WORDS.match(line)
    return None if found is None else HookWords(*(_ESCAPE.sub(r"\1", path) for path in found.groups()))


def _quoted(path: str) -> str:
    if not path.startswith("/"):
        raise InstallError(
            f"`{path}` is not an absolute path; run latchctl with the interpreter it is installed in"
        )
    if not path.isprintable():
        raise InstallError(
            f"the path {path!r} can't stand in a hook line; install latchd in another directory"
        )
    return '"' + re.sub(r'([\\"$`])', r"\\\1", path) + '"'
