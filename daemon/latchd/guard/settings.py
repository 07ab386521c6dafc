"""Settings of git that name a program everybody knows: `ssh` with a key, the login helper of the `gh` client.

They are run later like any other, but what is run is known, and nothing in them can name another program.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Command

_KEY: Final = re.compile(
    r"(?:core\.sshcommand|credential(?:\.\S{1,256})?\.helper)(?:=(?P<value>.*))?\Z", re.DOTALL
)
_OPTION: Final = r"(?:-i\s{0,4}[\w./~@+-]{1,256}|-[46AaCqTvx]{1,8}|-p\s{0,4}\d{1,5}|-F\s{0,4}/dev/null"
_SSH: Final = re.compile(
    rf"(?:ssh|/usr/bin/ssh)(?:\s{{1,8}}{_OPTION}|-o\s{{0,4}}(?:IdentitiesOnly|StrictHostKeyChecking|BatchMode)=\w{{1,16}}))*\s*\Z"
)
_HELPER: Final = re.compile(r"!(?:/usr/bin/|/usr/local/bin/|/opt/homebrew/bin/)?gh auth git-credential\s*\Z")


def is_plain_setting(command: Command) -> bool:
    """Whether every running key that a command of git sets has a value that can only be such a program."""
    if command.program != "git" or "executing-config" not in command.details:
        return False
    words = command.argv[1:]
    found = False
    for at, word in enumerate(words):
        key = _KEY.match(word.lower())
        if key is None:
            continue
        value = word.partition("=")[2] if key["value"] is not None else "".join(words[at + 1 : at + 2])
        if not (_SSH.match(value) or _HELPER.match(value)):
            return False
        found = True
    # one key of another kind beside it would be judged with it: `-c alias.x=…`, `-c core.pager=…`
    return found and sum(word == "-c" or word.startswith("--config-env") for word in words) <= 1
