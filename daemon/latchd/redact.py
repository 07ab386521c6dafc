"""Masks what looks like a secret in text that a record may hold, and keeps that text short and printable.

Masking comes before cutting: a secret that straddles the limit must not survive as its first half.
Every pattern is linear: it looks at a token from its beginning alone, and never twice.
"""

from __future__ import annotations

import re
from typing import Final

ID_BYTES: Final = 160
HEAD_BYTES: Final = 120  # enough to recognise a command, too short to hold a file
# What is looked at beyond the head itself: a secret that begins in the head must be recognised by
# what follows it, and every pattern needs less than this to know one.
_BEYOND: Final = 512
_MASK: Final = "‹masked›"

_TELLING: Final = (
    r"(?:passw(?:or)?d|passphrase|pwd|secret|token|api[_-]?key|apikey"
    r"|access[_-]?key|private[_-]?key|credential|auth|cookie|session|dsn|signature)"
)
# A name, from its first character on: tried in its middle too, each would be read as often as it has parts.
_NAME_OF_ONE: Final = rf"(?<![A-Za-z0-9_.-])(?=[A-Za-z0-9_.-]*{_TELLING})([A-Za-z0-9_.-]++)"
_VALUE: Final = r"(?:'[^']*'?|\"[^\"]*\"?|[^\s'\";|&]+)"

# Names are what most texts are searched for in vain, so one look for any part of one goes before.
_TELLING_PART: Final = re.compile(rf"(?i){_TELLING}")
_NAMED: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    # name=value, "name": value, and --name value
    (re.compile(rf"(?i){_NAME_OF_ONE}(['\"]?\s*[=:]\s*){_VALUE}"), rf"\1\2{_MASK}"),
    (re.compile(rf"(?i)(?=-){_NAME_OF_ONE}(\s+){_VALUE}"), rf"\1\2{_MASK}"),
)
# How tokens begin that their issuers made recognisable.
_ISSUERS: Final = (
    r"gh[pousr]_|github_pat_|glpat-|sk-|sk_live_|rk_live_|pk_live_|xox[abprs]-|npm_|pypi-|hf_|dop_v1_|shpat_"
    r"|AKIA|ASIA|AIza|ya29\.|eyJ|AGE-SECRET-KEY-|SG\.|whsec_"
)
# In a name such a token stands between other parts, and `npm_run_script` is none.
_ISSUED_IN_NAME: Final = re.compile(
    rf"(?<![A-Za-z0-9])(?:{_ISSUERS})(?=[A-Za-z0-9_\-./+=]*[0-9])[A-Za-z0-9_\-./+=]{{16,}}"
)
# before name=value, which would take the scheme's own name for the secret
_SCHEME: Final = re.compile(r"(?i)\b(bearer|basic|digest|token)(\s+)[A-Za-z0-9+/=._~-]{6,}")
_OTHERS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"(?i)(\s-u\s*|--user[ =]|--proxy-user[ =])([^\s:'\"]*:)[^\s'\"]+"), rf"\1\2{_MASK}"),
    (re.compile(r"([a-z][a-z0-9+.-]{1,20}://[^\s/:@'\"]*:)[^\s/@'\"]+(@)"), rf"\1{_MASK}\2"),
    # tokens that their issuers made recognisable
    (re.compile(rf"\b(?:{_ISSUERS}|key-)[A-Za-z0-9_\-./+=]{{8,}}"), _MASK),
    (re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*", re.DOTALL), _MASK),
    # long runs of hex or base64 with no word in them
    (re.compile(r"\b[0-9a-fA-F]{32,}\b"), _MASK),
    (
        re.compile(
            r"(?<![A-Za-z0-9+_-])(?=[A-Za-z0-9+_-]*[0-9])(?=[A-Za-z0-9+_-]*[A-Z])(?=[A-Za-z0-9+_-]*[a-z])"
            r"[A-Za-z0-9+_-]{32,}={0,2}"
        ),
        _MASK,
    ),
)


def mask(text: str) -> str:
    """The text with everything that looks like a secret replaced."""
    if not text:
        return text
    text = _SCHEME.sub(rf"\1\2{_MASK}", text)
    for pattern, replacement in (*(_NAMED if _TELLING_PART.search(text) else ()), *_OTHERS):
        text = pattern.sub(replacement, text)
    return text


def head(text: str, limit: int = HEAD_BYTES) -> str:
    """The masked beginning of a text, one printable line of at most ``limit`` UTF-8 bytes."""
    return cut(printable(mask(text[: limit + _BEYOND])), limit)


def shown_id(text: str) -> str:
    """An id or a name as agents make them: whole where it can be, for a person must find it again.

    Ids are long and look random, so of what looks like a secret only issuers' own tokens are masked.
    """
    return cut(printable(_ISSUED_IN_NAME.sub(_MASK, text[: ID_BYTES + _BEYOND])), ID_BYTES)


def printable(text: str) -> str:
    """One line: line breaks as ⏎, other controls, surrogates and direction marks as ?."""
    if text.isprintable():
        return text
    return "".join(_shown(character) for character in text)


def _shown(character: str) -> str:
    if character == "\n":
        return "⏎"
    if character == "\t":
        return " "
    if character == "\0":
        return "…"  # a dynamic part of a word
    return character if character.isprintable() else "?"


def cut(text: str, limit: int) -> str:
    """At most ``limit`` UTF-8 bytes of a text, an ellipsis where it was longer."""
    data = text.encode("utf-8", "replace")
    if len(data) <= limit:
        return text
    return data[: limit - 3].decode("utf-8", "ignore") + "…"
