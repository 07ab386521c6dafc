"""Source text of an inline program → tokens and calls. One rough lexer serves every language.

Good enough to find calls with literal arguments; it never claims to understand the rest.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

MAX_TOKENS: Final = 32_768  # of one program: in 64 KiB, one for every other letter
_MAX_LINKS: Final = 16  # names of one dotted chain
_MAX_RUN: Final = 128  # tokens of one call, so that brackets which never close cost no more
_BACKTICK_COMMANDS: Final = frozenset(("perl", "ruby", "php", "julia"))
_HASH_COMMENTS: Final = frozenset(("python", "perl", "ruby", "php"))


class Token(msgspec.Struct, frozen=True, gc=False):
    """``kind`` is n(ame), s(tring), c(ommand in backticks) or the punctuation itself."""

    kind: str
    text: str


_PLAIN: Final = re.compile(r"[^\\'\"`{$@#]+")  # what nothing begins or ends with in a string
_END: Final = Token(";", "")
_MARKS: Final = {mark: Token(mark, mark) for mark in "()[]{}<>=.,;:+-*/%&|!?\\^~@$#"}


def _piece(behind_empty: str) -> re.Pattern[str]:
    return re.compile(
        r"[^\S\n]*(?:(?P<name>(?:[^\W\d]|[_$@%\0])[\w\0]*)|(?P<line>\n)|(?P<digits>\d[\w.]*)"
        r"|(?P<link>::|->|\?\.)"
        r"|(?P<plain>(?<!\w)(?:\"[^\\\"`{$@#]+\"|'[^\\'`{$@#]+'|" + behind_empty + r"))|(?P<mark>\S))?",
        re.DOTALL,
    )


_PIECE: Final = _piece("\"\"|''")
_PYTHON_PIECE: Final = _piece("\"\"(?!\")|''(?!')")  # three of them open a text of many lines


class Call(msgspec.Struct, frozen=True, gc=False):
    """``receiver.name(arguments)``. ``name`` is dotted; arguments are token runs."""

    name: str
    arguments: tuple[tuple[Token, ...], ...]
    receiver: tuple[Token, ...] = ()  # arguments of the call this one is chained to


def tokens(code: str, language: str) -> list[Token]:
    """All tokens, or the first MAX_TOKENS. Interpolated parts of strings become NUL."""
    found: list[Token] = []
    hashes = language in _HASH_COMMENTS
    slashes = language in ("node", "php")
    match = (_PYTHON_PIECE if language == "python" else _PIECE).match
    at, size = 0, len(code)
    while at < size and len(found) < MAX_TOKENS:
        piece = match(code, at)
        assert piece is not None  # noqa: S101 - it may be empty at the very end only
        kind, end = piece.lastgroup, piece.end()
        if kind == "name":
            found.append(Token("n", piece[kind]))
        elif kind == "plain":  # nothing in it or around it needs a second look
            found.append(Token("s", piece[kind][1:-1]))
        elif kind == "mark":
            text = piece[kind]
            if text in "'\"`":
                token, end = _string(code, end - 1, language, found)
                found.append(token)
            elif (hashes and text == "#") or (slashes and text == "/" and code.startswith("/", end)):
                end = code.find("\n", end)
                end = size if end < 0 else end
            else:
                found.append(_MARKS.get(text) or Token(text, text))
        elif kind == "line":
            found.append(_END)
        elif kind == "digits":
            found.append(Token("d", piece[kind]))
        elif kind == "link":
            found.append(Token(".", piece[kind]))
        at = end
    return found


def _string(code: str, at: int, language: str, before: list[Token]) -> tuple[Token, int]:
    quote = code[at]
    prefix = before[-1].text.lower() if before and before[-1].kind == "n" else ""
    prefixed = language == "python" and prefix in ("f", "r", "b", "rb", "br", "fr", "rf", "u") and at > 0
    prefixed = prefixed and code[at - 1].isalpha()
    if prefixed:
        before.pop()
    triple = language == "python" and code.startswith(quote * 3, at)
    close = quote * 3 if triple else quote
    at += len(close)
    text: list[str] = []
    raw = prefixed and "r" in prefix
    while at < len(code) and not code.startswith(close, at):
        plain = _PLAIN.match(code, at)
        if plain:
            text.append(plain.group())
            at = plain.end()
            continue
        if code[at] == "\\" and at + 1 < len(code):
            text.append(code[at : at + 2] if raw else _escape(code[at + 1]))
            at += 2
            continue
        skipped = _interpolation(code, at, quote, language, prefixed and "f" in prefix)
        if skipped:
            text.append("\0")
            at = skipped
            continue
        text.append(code[at])
        at += 1
    command = quote == "`" and language in _BACKTICK_COMMANDS
    return Token("c" if command else "s", "".join(text)), at + len(close)


def _escape(mark: str) -> str:
    return {"n": "\n", "t": "\t", "0": "", "\n": ""}.get(mark, mark)


def _interpolation(code: str, at: int, quote: str, language: str, formatted: bool) -> int:
    """The place after an interpolation that starts here, or 0."""
    opens = (
        (formatted and code[at] == "{" and not code.startswith("{{", at))
        or (language == "node" and quote == "`" and code.startswith("${", at))
        or (language == "ruby" and quote != "'" and code.startswith("#{", at))
    )
    if opens:
        end = code.find("}", at)
        return end + 1 if end >= 0 else len(code)
    if language in ("perl", "php") and quote != "'" and code[at] in "$@" and code[at + 1 : at + 2].isalpha():
        at += 1
        while at < len(code) and (code[at].isalnum() or code[at] in "_{}[]"):
            at += 1
        return at
    return 0


_NUMBERED: Final = frozenset(("chmod", "chown", "kill"))  # take a number first


def calls(found: Sequence[Token], language: str) -> Iterator[Call]:
    """Calls in source order; perl, ruby and php statements without brackets count when the name is
    followed by a string."""
    bare = language in ("perl", "ruby", "php")
    for at, token in enumerate(found):
        if token.kind != "n":
            continue
        after = found[at + 1] if at + 1 < len(found) else None
        if after is None:
            continue
        if after.kind == "(":
            name, receiver = _chain(found, at)
            yield Call(name, _arguments(found, at + 2, ")"), receiver)
        elif bare and (after.kind in ("s", "[", "n", "<") or (after.kind == "d" and token.text in _NUMBERED)):
            name, receiver = _chain(found, at)
            yield Call(name, _arguments(found, at + 1, ";"), receiver)
        elif found[at - 1 : at] and found[at - 1].kind == ".":
            name, receiver = _chain(found, at)
            if receiver:
                yield Call(name, (), receiver)


def _chain(found: Sequence[Token], at: int) -> tuple[str, tuple[Token, ...]]:
    """The dotted name that ends here, and the arguments of a call it hangs on: ``Path('x').unlink``."""
    names = [found[at].text]
    place = at - 1
    while place > 0 and found[place].kind == "." and len(names) < _MAX_LINKS:
        place -= 1
        if found[place].kind == "n":
            names.append(found[place].text)
            place -= 1
        elif found[place].kind == ")":
            opening = _opening(found, place)
            if opening < 0:
                break
            inner = tuple(found[opening + 1 : place])
            caller = found[opening - 1].text if opening and found[opening - 1].kind == "n" else ""
            if caller == "require" and inner:
                return ".".join(reversed([*names, inner[0].text])), ()
            names.append(f"{caller}()")
            return ".".join(reversed(names)), inner
        else:
            break
    return ".".join(reversed(names)), ()


def _opening(found: Sequence[Token], at: int) -> int:
    depth = 0
    for place in range(at, max(-1, at - _MAX_RUN), -1):
        if found[place].kind == ")":
            depth += 1
        elif found[place].kind == "(":
            depth -= 1
            if depth == 0:
                return place
    return -1


def _arguments(found: Sequence[Token], at: int, close: str) -> tuple[tuple[Token, ...], ...]:
    """Token runs between commas at the first level, up to the closing mark."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found[at : at + _MAX_RUN]:
        if depth == 0 and (token.kind == close or (close == ";" and token.kind in (";", "}", ")"))):
            break
        if token.kind in "([{":
            depth += 1
        elif token.kind in ")]}":
            depth -= 1
        if token.kind == "," and depth == 0:
            parts.append([])
        else:
            parts[-1].append(token)
    return tuple(tuple(part) for part in parts if part)
