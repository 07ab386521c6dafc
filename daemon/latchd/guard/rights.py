"""Changes of rights and owners: which of them nobody gets more by, and nobody loses anything.

A mode is no content. What is taken from everybody, opened to everybody, or changed on a whole part of the
machine is another matter, and is left to the rules.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Access, Command, Operation, PathFact

DIRECTORY_MAKERS: Final = frozenset(("mkdir", "gmkdir"))
# The owner can still read and write, others at most read and enter, and nothing runs with another's rights.
_ORDINARY: Final = re.compile(
    r"(?:0{0,2}[67][0-7][0145]|(?:[ugoa]{0,4}\+[rwxX]{1,4}|[goa]{1,3}-[rwxX]{1,4})"
    r"(?:,(?:[ugoa]{0,4}\+[rwxX]{1,4}|[go]{1,2}-[rwxX]{1,4})){0,4})\Z"
)
_DEEP_ENOUGH: Final = 2  # components: what lies directly below the root is a whole part of the machine


def is_slight(command: Command, fact: PathFact) -> bool:
    """An empty directory, or the rights of one path that nobody gets more by: no content is touched."""
    if command.program in DIRECTORY_MAKERS:
        return True
    if fact.access is not Access.METADATA or {"world-writable", "set-id"} & set(command.details):
        return False
    return not (fact.recursive or fact.globs) or is_ordinary(command, fact.resolved)


def is_ordinary(command: Command, path: str) -> bool:
    """`chmod -R 755 /srv/app/public`: the usual modes of files and directories, for a tree that is named.

    Nothing hidden is among the tree's names: below those lie keys and start-up files.
    """
    parts = [part for part in path.split("/") if part]
    named = len(parts) >= _DEEP_ENOUGH and not any(part.startswith(".") or "\0" in part for part in parts)
    home = len(parts) == _DEEP_ENOUGH and parts[0].lower() in ("home", "users")
    return (
        named
        and not home
        and command.program in ("chmod", "gchmod")
        and Operation.PERMISSION_CHANGE in command.operations
        and not {"world-writable", "set-id"} & set(command.details)
        and _ORDINARY.match(_mode(command)) is not None
    )


def _mode(command: Command) -> str:
    """The first word that is no option; `-x` is a mode, and no ordinary one."""
    return next((word for word in command.argv[1:] if not re.match(r"--?[RvcfHLP]|--\w", word)), "")
