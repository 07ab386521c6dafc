"""A word of the shell → the arguments a program gets.

Quotes go, braces multiply, a known variable gives its text, a home that is known replaces the tilde.
All else that only the running shell knows is one NUL in the value, and the argument says it expands.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Quote
from latchd.shell.lex import Flag, Lexed, Piece, lex
from latchd.shell.parse import Node, Program, from_bytes_view
from latchd.shell.variables import Value, Variables, is_loose, pieces_of

MAX_BRACES: Final = 64  # words that one word may become
MAX_GROUPS: Final = 32  # opening braces in one word
MAX_MULTIPLIED: Final = 1024  # words of a command; with so many, braces multiply no more
SCRATCH: Final = "/tmp/"  # noqa: S108 - where `mktemp -d` makes its directory
_BLANK: Final = re.compile(r"(\s|\\\n)*\Z")  # between words
_HOLES: Final = frozenset({Flag.HOLE, Flag.QUOTED_HOLE, Flag.MANY, Flag.SCRATCH})
_KEPT: Final = frozenset({Flag.SCRATCH, Flag.HOLE, Flag.QUOTED_HOLE, Flag.GLOB})
_UNSURE: Final = frozenset({Flag.HOLE, Flag.QUOTED_HOLE, Flag.GLOB})
MAX_DEFAULTS: Final = 4  # defaults within defaults that are followed
_SIMPLE = re.compile(r"[A-Za-z0-9_./:=@%+,\-^]+\Z")
_PATH = re.compile(r"\.{0,2}/?[\w.-]+/")
_SEQUENCE = re.compile(r"(-?\d{1,6}|[A-Za-z])\.\.(-?\d{1,6}|[A-Za-z])(?:\.\.(-?\d{1,6}))?\Z")
_GLOB = re.compile(r"[*?\[]")
_ASSIGNED_TILDE = re.compile(r"[A-Za-z_]\w*\+?=(?:[^~]*:)?~")


class Word(msgspec.Struct, frozen=True):
    """One source word: what it becomes, and what was found in it."""

    arguments: tuple[Argument, ...]
    lexed: Lexed
    sources: tuple[int, ...] = ()  # commands whose output is in it through variables
    overflow: bool = False  # braces make more words than are listed
    bare: str = ""  # the text if it is one unquoted literal: what a keyword or an alias must be


def literal(value: str) -> Argument:
    return Argument(value)


def read_word(
    text: str,
    start: int,
    end: int,
    spans: Mapping[int, Node],
    variables: Variables,
    *,
    braces: bool = True,
) -> Word:
    """The arguments that ``text[start:end]`` becomes where ``variables`` hold."""
    lexed = lex(text, start, end, spans)
    if len(lexed.pieces) == 1 and lexed.pieces[0].flag is Flag.PLAIN:
        only = lexed.pieces[0].text
        if _SIMPLE.match(only):
            return Word((Argument(only),), lexed, bare=only)
    return expand(lexed, variables, bare=text[start:end], braces=braces)


def expand(
    lexed: Lexed, variables: Variables, *, bare: str = "", split: bool = True, braces: bool = True
) -> Word:
    """The arguments of pieces; without ``split`` as an assignment sees them: one word."""
    sources: list[int] = []
    given = lexed.pieces
    if variables.defaults:
        given = tuple(part for piece in given for part in _default(piece, variables))
    pieces = _tilde(given, variables) if given else ()
    count = (
        sum(piece.text.count("{") for piece in pieces if piece.flag is Flag.PLAIN) if braces and split else 0
    )
    variants = _braces(pieces) if 0 < count <= MAX_GROUPS else [pieces]
    overflow = len(variants) > MAX_BRACES or count > MAX_GROUPS
    arguments: list[Argument] = []
    for variant in variants[:MAX_BRACES]:
        substituted: list[Piece] = []
        for piece in variant:
            if piece.flag in (Flag.VARIABLE, Flag.QUOTED_VARIABLE):
                substituted += _variable(piece, variables, sources, split=split)
            elif piece.flag is Flag.OUTPUT:
                substituted.append(Piece(piece.text, Flag.VARIABLE if split else Flag.DOUBLE))
            elif piece.name and piece.flag is Flag.MANY:
                _many(piece, variables, substituted, sources, split=split)
            else:
                substituted.append(piece)
        for field in _fields(substituted) if split else [substituted]:
            arguments.append(_argument(field))
    for piece in lexed.pieces:
        if piece.sets and piece.name and variables.lookup(piece.name) in (None, Value()):
            variables.values[piece.name] = Value(None, default=piece.default)
    plain = all(piece.flag is Flag.PLAIN for piece in lexed.pieces)
    return Word(tuple(arguments), lexed, tuple(sources), overflow, bare if plain else "")


def read_words(program: Program, nodes: Sequence[Node], variables: Variables) -> tuple[Argument, ...] | None:
    """The words that nodes beside each other make; None where they are not surely read."""
    spans: list[tuple[int, int]] = []
    for node in nodes:
        if spans and spans[-1][1] == node.start:
            spans[-1] = (spans[-1][0], node.end)
        elif spans and not _BLANK.match(program.text[spans[-1][1] : node.start]):
            return None
        else:
            spans.append((node.start, node.end))
    found: list[Argument] = []
    for start, end in spans:
        word = read_word(program.text, start, end, program.spans, variables)
        if word.overflow or word.lexed.silent:
            return None
        found += word.arguments
    return tuple(found)


def assigned(lexed: Lexed, variables: Variables) -> Value:
    """What an assignment of these pieces makes of a variable; known if wholly literal or scratch.

    Of a path its beginning is kept: below what it lies, whatever the rest is.
    """
    sources: list[int] = []
    pieces: list[Piece] = []
    known = True
    for piece in _tilde(lexed.pieces, variables):
        if piece.flag in (Flag.VARIABLE, Flag.QUOTED_VARIABLE):
            found = _variable(piece, variables, sources, split=False)
            known &= all(part.flag not in _UNSURE for part in found)
            pieces += found
        elif piece.flag is Flag.OUTPUT:
            pieces.append(Piece(piece.text, Flag.DOUBLE))
        elif piece.flag in _HOLES and piece.flag is not Flag.SCRATCH:
            known = False
            pieces.append(Piece("", Flag.HOLE))
        else:
            pieces.append(piece)
    if known:
        return Value(tuple(pieces), tuple(sources))
    parts = [part for piece in lexed.pieces for part in _default(piece, variables)]
    if parts == list(lexed.pieces) and _is_path(pieces):
        return Value(tuple(pieces), tuple(sources))
    return Value(None, tuple(sources), tuple(parts) if parts != list(lexed.pieces) else None)


def _is_path(pieces: Sequence[Piece]) -> bool:
    """Whether a value that is not wholly known begins with a directory, and holds no blank to split at."""
    texts = [piece.text for piece in pieces if piece.flag in (Flag.PLAIN, Flag.DOUBLE)]
    sure = all(piece.flag in (Flag.PLAIN, Flag.DOUBLE, Flag.HOLE) for piece in pieces)
    return (
        bool(texts)
        and sure
        and pieces[0].text == texts[0]
        and _PATH.match(texts[0]) is not None
        and all(map(_SIMPLE.match, texts))
    )


def _default(piece: Piece, variables: Variables, depth: int = 0) -> list[Piece]:
    """What a piece stands for where each variable that this text does not set has no value."""
    quoted = piece.flag in (Flag.QUOTED_VARIABLE, Flag.QUOTED_HOLE)
    if piece.flag in (Flag.VARIABLE, Flag.QUOTED_VARIABLE):
        value = variables.lookup(piece.text)
        found = value.default if value is not None and value.pieces is None else None
    else:
        found = piece.default
        if piece.name and found is not None:
            value = variables.lookup(piece.name)
            if value is not None and value.pieces is not None:
                return [Piece(piece.name, Flag.QUOTED_VARIABLE if quoted else Flag.VARIABLE)]
    if found is None or depth > MAX_DEFAULTS:
        return [piece]
    return [
        Piece(part.text, Flag.DOUBLE) if quoted and part.flag is Flag.PLAIN else part
        for inner in found
        for part in _default(inner, variables, depth + 1)
    ]


def _variable(piece: Piece, variables: Variables, sources: list[int], *, split: bool) -> list[Piece]:
    quoted = piece.flag is Flag.QUOTED_VARIABLE
    hole = [Piece("", Flag.QUOTED_HOLE if quoted else Flag.HOLE)]
    value = variables.lookup(piece.text)
    if value is not None and not quoted and split and piece.text.isdigit() and not variables.splits:
        return hole
    if value is None:
        if piece.text == "HOME" and variables.home and variables.folds:
            return [Piece(variables.home.encode().decode("latin-1"), Flag.DOUBLE)]
        if piece.text == "PWD" and len(variables.places) == 1 and variables.folds:
            return [Piece(variables.places[0].encode().decode("latin-1"), Flag.DOUBLE)]
        return hole
    sources += value.sources
    if value.pieces is None:
        return hole
    if value.pieces and not variables.may_spend(4 + sum(len(part.text) for part in value.pieces)):
        return hole
    if not split and any(part.flag is Flag.GLOB for part in value.pieces):
        return hole  # a file's name may be any text, and this text may be code
    if quoted or not split:
        return [_as_quoted(part, quoted=quoted) for part in value.pieces] or [
            Piece("", Flag.DOUBLE if quoted else Flag.HOLE)
        ]
    return [part if part.flag in _KEPT else Piece(part.text, Flag.VARIABLE) for part in value.pieces]


def _many(
    piece: Piece, variables: Variables, before: list[Piece], sources: list[int], *, split: bool
) -> None:
    """Add what `$@`, `$*` or all of an array stands for to the pieces before it."""
    quoted = piece.name[0] == '"'
    kind, array = piece.name[quoted], piece.name[quoted + 1 :]
    words = variables.words_of(array)
    if array in variables.values:
        sources += variables.values[array].sources
    joins = not split or (quoted and kind == "*")
    splits = not (quoted and kind == "@")
    if words is None or (joins and any(map(is_loose, words))) or (splits and not variables.splits):
        before.append(piece)
        return
    if not variables.may_spend(sum(16 + len(word.value) for word in words)):
        before.append(piece)
        return
    if not words and quoted and kind == "@" and before and before[-1] == Piece("", Flag.DOUBLE):
        before.pop()  # "$@" of nothing is no word at all
    blank = Piece(" ", Flag.DOUBLE if joins else Flag.VARIABLE)
    for index, word in enumerate(words):
        before += [blank] if index else []
        parts = pieces_of(word)
        if quoted or joins:
            whole = (
                [Piece("", Flag.MANY)]
                if word.expands and is_loose(word)
                else [_as_quoted(part, quoted=True) for part in parts]
            )
            before += whole or [Piece("", Flag.DOUBLE)]
        else:
            before += [part if part.flag in _KEPT else Piece(part.text, Flag.VARIABLE) for part in parts]


def _as_quoted(part: Piece, *, quoted: bool) -> Piece:
    if part.flag is Flag.HOLE and quoted:
        return Piece("", Flag.QUOTED_HOLE)
    return part if part.flag in _KEPT else Piece(part.text, Flag.DOUBLE)


def _tilde(pieces: tuple[Piece, ...], variables: Variables) -> tuple[Piece, ...]:
    if not pieces or pieces[0].flag is not Flag.PLAIN or "~" not in pieces[0].text:
        return pieces
    if not pieces[0].text.startswith("~"):
        return _assigned_tilde(pieces, variables)
    head, slash, rest = pieces[0].text.partition("/")
    if head == "~" and variables.home and "HOME" not in variables.values and (slash or len(pieces) == 1):
        home = Piece(variables.home.encode().decode("latin-1"), Flag.DOUBLE)
        return (home, Piece(slash + rest, Flag.PLAIN), *pieces[1:]) if slash else (home,)
    if slash or len(pieces) == 1:
        return (Piece(head, Flag.TILDE), Piece(slash + rest, Flag.PLAIN), *pieces[1:])
    return pieces


def _assigned_tilde(pieces: tuple[Piece, ...], variables: Variables) -> tuple[Piece, ...]:
    """A word that looks like an assignment has its tildes replaced too."""
    text = pieces[0].text
    match = _ASSIGNED_TILDE.match(text)
    if match is None:
        return pieces
    place = match.end()
    known = variables.home and "HOME" not in variables.values
    whole = text[place : place + 1] in ("/", "") and (place < len(text) or len(pieces) == 1)
    if known and whole and "~" not in text[place:]:
        home = Piece(variables.home.encode().decode("latin-1"), Flag.DOUBLE)
        return (Piece(text[: place - 1], Flag.PLAIN), home, Piece(text[place:], Flag.PLAIN), *pieces[1:])
    return (Piece(text[:place], Flag.TILDE), Piece(text[place:], Flag.PLAIN), *pieces[1:])


def _fields(pieces: list[Piece]) -> list[list[Piece]]:
    """Split where a variable's own value has blanks. No pieces and unquoted = no field at all."""
    fields: list[list[Piece]] = []
    current: list[Piece] = []
    for piece in pieces:
        if piece.flag is not Flag.VARIABLE:
            if piece.text or piece.flag is not Flag.PLAIN:
                current.append(piece)
            continue
        parts = re.split(r"[ \t\n]+", piece.text)
        for index, part in enumerate(parts):
            if index and current:
                fields.append(current)
                current = []
            if part:
                current.append(Piece(part, Flag.PLAIN))
    if current:
        fields.append(current)
    return fields


def _argument(pieces: list[Piece]) -> Argument:
    value: list[str] = []
    quotes: set[Quote] = set()
    expands = globs = False
    for piece in pieces:
        flag = piece.flag
        if flag in _HOLES:
            expands = True
            globs = globs or flag is Flag.MANY or flag is Flag.HOLE
            value.append(SCRATCH + "\0" if flag is Flag.SCRATCH else "\0")
            continue
        value.append(piece.text)
        expands = expands or flag is Flag.TILDE
        if flag in (Flag.PLAIN, Flag.TILDE, Flag.ESCAPED, Flag.GLOB):
            quotes.add(Quote.NONE)
            globs = (
                globs or flag is Flag.GLOB or (flag is Flag.PLAIN and _GLOB.search(piece.text) is not None)
            )
        else:
            quotes.add(Quote.SINGLE if flag is Flag.SINGLE else Quote.DOUBLE)
    quote = Quote.NONE if not quotes else quotes.pop() if len(quotes) == 1 else Quote.MIXED
    joined = re.sub("\0+", "\0", "".join(value))
    return Argument(from_bytes_view(joined), quote, expands, globs)


def _braces(pieces: tuple[Piece, ...]) -> list[tuple[Piece, ...]]:
    """Brace expansion over single characters; a list longer than MAX_BRACES means there are more."""
    atoms: list[Piece] = []
    for piece in pieces:
        if piece.flag is Flag.PLAIN:
            atoms += [Piece(char, Flag.PLAIN) for char in piece.text]
        else:
            atoms.append(piece)
    done: list[tuple[Piece, ...]] = []
    waiting = [(atoms, 0)]
    while waiting:
        current, start = waiting.pop()
        found = _first_brace(current, start)
        if found is None:
            done.append(_join(current))
            if len(done) > MAX_BRACES:
                break
            continue
        opening, closing, choices = found
        waiting += [
            (current[:opening] + choice + current[closing + 1 :], opening) for choice in reversed(choices)
        ]
        if len(waiting) > 4 * MAX_BRACES:
            return [*done, *(_join(item) for item, _ in waiting)]
    return done


def _first_brace(atoms: list[Piece], start: int) -> tuple[int, int, list[list[Piece]]] | None:
    for opening in range(start, len(atoms)):
        if not _is(atoms[opening], "{"):
            continue
        depth, last = 1, opening + 1
        parts: list[list[Piece]] = []
        for index in range(opening + 1, len(atoms)):
            atom = atoms[index]
            if _is(atom, "{"):
                depth += 1
            elif _is(atom, "}"):
                depth -= 1
            elif _is(atom, ",") and depth == 1:
                parts.append(atoms[last:index])
                last = index + 1
            if depth == 0:
                if parts:
                    return opening, index, [*parts, atoms[last:index]]
                sequence = _sequence(atoms[opening + 1 : index])
                if sequence:
                    return opening, index, sequence
                break
    return None


def _sequence(atoms: list[Piece]) -> list[list[Piece]]:
    if any(atom.flag is not Flag.PLAIN for atom in atoms):
        return []
    match = _SEQUENCE.match("".join(atom.text for atom in atoms))
    if match is None:
        return []
    first, last, step = match.groups()
    letters = first.isalpha()
    if letters != last.isalpha():
        return []
    low, high = (ord(first), ord(last)) if letters else (int(first), int(last))
    width = (
        0
        if letters
        else max(len(side) for side in (first, last))
        if any(side.lstrip("-").startswith("0") and len(side.lstrip("-")) > 1 for side in (first, last))
        else 0
    )
    stride = max(abs(int(step or 1)), 1) * (1 if high >= low else -1)
    numbers = range(low, high + (1 if stride > 0 else -1), stride)
    return [
        [Piece(chr(number) if letters else str(number).zfill(width), Flag.PLAIN)]
        for number in numbers[: MAX_BRACES + 1]
    ]


def _is(piece: Piece, char: str) -> bool:
    return piece.flag is Flag.PLAIN and piece.text == char


def _join(atoms: list[Piece]) -> tuple[Piece, ...]:
    joined: list[Piece] = []
    for atom in atoms:
        if joined and atom.flag is Flag.PLAIN and joined[-1].flag is Flag.PLAIN:
            joined[-1] = Piece(joined[-1].text + atom.text, Flag.PLAIN)
        else:
            joined.append(atom)
    return tuple(joined)
