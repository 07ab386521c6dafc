"""An inline program read once: its tokens, its calls, and the literal texts its expressions are.

One analysis asks twice, for what a program starts and for what it does itself, so the last programs are kept
until it ends: no text of a judged call outlives it.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latchd.shell.grammar.code_tokens import MAX_TOKENS, Call, Token, calls, tokens

MAX_CODE: Final = 65_536  # letters read of one program: as many as a shell text may have
MAX_CALLS: Final = 1000  # read of one program
MAX_ARGUMENTS: Final = 16_384  # tokens of all calls' arguments, where brackets that never close share them


class Said(msgspec.Struct, frozen=True, gc=False):
    """A call and what its arguments are as texts, as `text_of` tells them."""

    call: Call
    texts: tuple[str, ...]


class Source(msgspec.Struct, frozen=True):
    """What was read; ``whole``: nothing is left unread. ``known`` are the names with one literal text."""

    found: tuple[Token, ...]
    words: tuple[str, ...]  # its names, in order
    strings: tuple[str, ...]
    known: Mapping[str, str]
    calls: tuple[Said, ...]
    whole: bool


_OWN_SPELLING: Final = frozenset(("python", "node", "perl", "ruby", "php", "julia"))  # the rest reads alike


def source(code: str, language: str) -> Source:
    """Read a program; a hole in it is NUL."""
    return _source(code, language if language in _OWN_SPELLING else "other")


def forget() -> None:
    """Keep nothing of what was read: an analysis is over."""
    _source.cache_clear()


@functools.lru_cache(maxsize=2)
def _source(code: str, language: str) -> Source:
    text = code[:MAX_CODE]
    found = tuple(tokens(text, language))
    known = assigned(found)
    said: list[Said] = []
    spent, whole = 0, len(text) == len(code) and len(found) < MAX_TOKENS
    for call in calls(found, language):
        spent += sum(map(len, call.arguments))
        if len(said) == MAX_CALLS or spent > MAX_ARGUMENTS:
            whole = False
            break
        said.append(Said(call, tuple(text_of(run, known) for run in call.arguments)))
    words = tuple(token.text for token in found if token.kind == "n")
    strings = tuple(token.text for token in found if token.kind == "s")
    return Source(found, words, strings, known, tuple(said), whole)


_HOMES: Final = frozenset(("home", "homedir", "Home", "expanduser"))


def text_of(run: tuple[Token, ...], known: Mapping[str, str]) -> str:
    """The text an expression is, with NUL for what can't be told; "\\0" alone when nothing can."""
    if len(run) == 1 and run[0].kind == "s" and run[0].text != "HOME":
        return run[0].text
    pieces: list[str] = []
    names = [token.text for token in run if token.kind == "n"]
    strings = [token.text for token in run if token.kind == "s"]
    if any(name in _HOMES for name in names) or "HOME" in strings:
        pieces.append("~")
        strings = [text for text in strings if text not in ("~", "HOME")]
        return "/".join([*pieces, *(text.lstrip("~/") for text in strings)]) if strings else "~"
    if "join" in names and strings:
        return "/".join(text.strip("/") if place else text for place, text in enumerate(strings))
    if len(run) == 1 and run[0].kind == "n":
        return known.get(run[0].text.lstrip("$"), "\0")
    for token in run:
        if token.kind == "s":
            pieces.append(token.text)
        elif token.kind == "n":
            pieces.append(known.get(token.text.lstrip("$"), "" if token.text in _CASTS else "\0"))
        elif token.kind == "/" and pieces:
            pieces.append("/")
    return "".join(pieces) or "\0"


_CASTS: Final = frozenset(
    ("Path", "pathlib", "PosixPath", "str", "String", "Pathname", "new", "path", "resolve")
)


_SCRATCH: Final = "/tmp/\0"  # noqa: S108 - where languages make a directory of their own


def _makes_scratch(found: Sequence[Token], at: int) -> bool:
    """`tempfile.mkdtemp()`, `fs.mkdtempSync(path.join(os.tmpdir(), "x-"))`: a new directory in scratch."""
    line = [token.text for token in itertools.takewhile(lambda token: token.kind != ";", found[at : at + 24])]
    if "mkdtempSync" in line:
        return line[:2] == ["fs", "."] and line[3:].count("tmpdir") == 1 and ".." not in "".join(line)
    if "mkdtemp" not in line[:3]:
        return False
    given = line[line.index("mkdtemp") + 1 :]
    return given[:1] == ["("] and (given == ["(", ")"] or (given[1:3] == ["prefix", "="] and len(given) == 5))


def assigned(found: Sequence[Token]) -> dict[str, str]:
    """Names that are given exactly one literal text."""
    values: dict[str, str] = {}
    spoiled: set[str] = set()
    for at, equals in enumerate(found[1:-1]):
        if equals.kind != "=":
            continue
        name, value = found[at], found[at + 2]
        if name.kind != "n" or value.kind == "=":
            continue
        key = name.text.lstrip("$")
        ends = at + 3 >= len(found) or found[at + 3].kind in (";", ",", ")")
        if value.kind == "s" and ends and key not in values:
            values[key] = value.text
        elif value.kind == "n" and key not in values and _makes_scratch(found, at + 2):
            values[key] = _SCRATCH
        else:
            spoiled.add(key)
    known = {name: text for name, text in values.items() if name not in spoiled}
    return _looped(found) | known


_FINDS: Final = frozenset(("glob", "iglob", "rglob", "listdir", "scandir"))


def _looped(found: Sequence[Token]) -> dict[str, str]:
    """``for f in glob.glob("*.o")``: the name stands for what the pattern finds."""
    values: dict[str, str] = {}
    for at in range(len(found) - 4):
        if found[at].text != "for" or found[at + 2].text != "in":
            continue
        ahead = found[at + 3 : at + 9]
        for place, token in enumerate(ahead[:-2]):
            if token.text in _FINDS and ahead[place + 1].kind == "(" and ahead[place + 2].kind == "s":
                text = ahead[place + 2].text
                values[found[at + 1].text] = text if "glob" in token.text else text.rstrip("/") + "/*"
                break
    return values
