"""Extended patterns, `!(a|b)` and its kin, as the plain pattern `*`: the parser knows them in tests only.

An agent's shell may have them switched on. Where it has not, bash refuses the line and runs nothing of it,
so reading it as if they were on can only list too much.
"""

from __future__ import annotations

import re
from typing import Final

_ANY: Final = re.compile(r"[?*+@!]\(")
_UNREAD: Final = re.compile(r"<<|`|(?:\A|\s)#")  # places where quotes may be none
_QUOTED: Final = r"\\.|\$'(?:[^'\\]|\\.)*'|'[^']*'|\"(?:[^\"\\]|\\.)*\""
_INNER: Final = r"[^\s()'\"$;&<>\\]"
_PATTERN: Final = rf"[?*+@!]\((?:{_INNER}|[?*+@!]\({_INNER}{{1,256}}\)){{1,256}}\)"
_PART: Final = re.compile(
    rf"(?P<before>(?:{_QUOTED}|[^\s;&|(){{}}'\"\\])[ \t]{{0,16}})(?<!\$)(?P<pattern>{_PATTERN})|{_QUOTED}",
    re.DOTALL,
)
_BEGINS: Final = re.compile(
    r"(?:\A|[\s;&|(){}])(?:if|then|elif|else|do|while|until|coproc|!|time(?:[ \t]+-[p-])*)[ \t]+\Z"
)  # ahead of a command
_WINDOW: Final = 24  # letters ahead of a pattern in which one of these is looked for
_MOST_BESIDE: Final = 4  # patterns right behind each other


def plain_patterns(text: str) -> str:
    """The text with each extended pattern that stands in or as an argument replaced; else the same text.

    `!(a)` where a command may begin is a negated subshell and stays.
    """
    if not _ANY.search(text) or _UNREAD.search(text):
        return text
    for _ in range(_MOST_BESIDE):
        found = _PART.sub(_plain, text)
        if found == text:
            break
        text = found
    return text


def _plain(match: re.Match[str]) -> str:
    before, pattern = match["before"], match["pattern"]
    if pattern is None:
        return match.group()
    at = match.start("pattern")
    if _BEGINS.search(match.string, max(0, at - _WINDOW), at):
        return match.group()
    return before + "*"
