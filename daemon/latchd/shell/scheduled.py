"""Jobs for later: at and batch read shell code on stdin, crontab reads lines of a schedule and code."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import NOTHING, Child, Unwrapped
from latchd.shell.listing import Input

_AT_STOPS: Final = frozenset(("-l", "-r", "-d", "-c", "-V", "-f"))  # list, remove, show; a file
_CRON_LINE = re.compile(
    r"^[ \t]*(?:@\w+|(?:[\d*,/\-A-Za-z~]+[ \t]+){5})[ \t]*((?:\\%|[^%\n])+)", re.MULTILINE
)
_CRON_STOPS: Final = frozenset(("-l", "-r", "-e", "-i", "-V", "-h"))


def at(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """`at TIME` and `batch`: what stands on stdin runs in sh later."""
    if any(word.value in _AT_STOPS for word in words[1:]) or not stdin.given:
        return NOTHING
    if stdin.text is None:
        return Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True)
    return Unwrapped((Child(code=stdin.text, reach=Reach.DEFERRED, reads=Input()),), runs_input=True)


def crontab(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """`crontab -`: the commands of its lines run later, again and again."""
    operands = [word.value for word in words[1:] if not word.value.startswith("-") or word.value == "-"]
    if any(word.value in _CRON_STOPS for word in words[1:]) or operands not in ([], ["-"]):
        return NOTHING
    if not stdin.given:
        return NOTHING
    if stdin.text is None:
        return Unwrapped(issues=(Issue.OPAQUE_ARTIFACT,), runs_input=True)
    codes = [match.group(1).replace("\\%", "%") for match in _CRON_LINE.finditer(stdin.text)]
    return Unwrapped(
        tuple(Child(code=code, reach=Reach.DEFERRED, reads=Input()) for code in codes), runs_input=True
    )
