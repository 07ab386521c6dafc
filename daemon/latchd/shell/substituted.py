"""Substitutions whose output is known before they run: `$(echo rm)`, `` `printf %s x` ``, `<(echo …)`.

Only a single command or a pipeline of them, all of whose words are known, and of programs whose output is
followed to the letter (`outputs.py`). The commands are listed as ever; here is only what they print. Each
analysis follows so many of them and no more.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latchd.shell.lex import Code, Flag, Lexed, Piece, lex
from latchd.shell.listing import NO_INPUT, Input, Listing
from latchd.shell.outputs import output_text
from latchd.shell.parse import HOLE, Node, Program, Refusal, code_text, parse
from latchd.shell.prepare import TICK
from latchd.shell.variables import MAX_VALUE, Variables
from latchd.shell.words import MAX_MULTIPLIED, Word, expand, read_word
from latchd.shell.wrappers import SHELLS

MAX_FOLDS: Final = 128  # of one analysis
MAX_DEPTH: Final = 4  # substitutions within substitutions
_MAY: Final = re.compile(rf"\$\(|`|{TICK}")
_PRINTS: Final = re.compile(r"\s*(?:\\?(?:/usr)?(?:/bin/)?(?:echo|printf)|g?base64|base32|xxd|rev)\s")
_LOOKUP: Final = re.compile(
    r"\s*(?:(?:/usr/bin/)?which|command\s+-v|type\s+-[pP])\s+(?P<name>[A-Za-z_][\w.+-]{0,63})\s*(?:2>\s*/dev/null\s*)?\Z"
)
_DIRECTORY: Final = re.compile(r"[A-Z][A-Z0-9_]*(?:HOME|DIR|ROOT|PATH|PREFIX|ENV|BIN)\Z")
_HANDS_ON: Final = frozenset({"sudo", "exec", "time", "nohup", "command"})
_PRINTERS: Final = frozenset({"echo", "printf"})
_TAKES_CODE: Final = SHELLS | {"eval"}
_HOLES: Final = frozenset({Flag.HOLE, Flag.QUOTED_HOLE})


def read(
    listing: Listing, program: Program, spans: Sequence[tuple[int, int]], variables: Variables
) -> list[Word]:
    """The words of a command. Known output is put in place where it is what runs.

    That is the command's name, the words of eval and of a shell, and what echo prints for one. An argument
    of anything else stays a hole: who hides `-rf` from a reader is not helped by guessing.
    """
    words: list[Word] = []
    room = MAX_MULTIPLIED
    for start, end in spans:  # words past the most that are listed are read for their code alone
        words.append(read_word(program.text, start, end, program.spans, variables, braces=room > 0))
        room -= len(words[-1].arguments)
    if words and _in_own_directory(words[0], variables):
        kept = tuple(
            Piece(piece.text, Flag.QUOTED_VARIABLE) if piece.flag is Flag.VARIABLE else piece
            for piece in words[0].lexed.pieces
        )
        words[0] = expand(msgspec.structs.replace(words[0].lexed, pieces=kept), variables)
    if not any(word.lexed.codes for word in words):
        return words
    names = [argument.value.rpartition("/")[2] for word in words for argument in word.arguments]
    everywhere = names[0] in _PRINTERS or not _TAKES_CODE.isdisjoint(names) if names else False
    for index, word in enumerate(words):
        whole = sum(bool(piece.text) or piece.flag in _HOLES for piece in word.lexed.pieces) == 1
        named = not index or (index == 1 and names[:1] and names[0] in _HANDS_ON)
        if named and whole and (name := _looked_up(program, word.lexed)):
            found = msgspec.structs.replace(word.lexed, pieces=(Piece(name, Flag.DOUBLE),))
            words[index] = expand(found, variables)
            continue
        if word.lexed.codes and (everywhere or (whole and not index)):
            start, end = spans[index]
            words[index] = _read(listing, program, start, end, variables)
    return words


def _in_own_directory(word: Word, variables: Variables) -> bool:
    """`$JAVA_HOME/bin/java`: a directory of the environment, which nobody writes with blanks in it."""
    lead, *rest = word.lexed.pieces or (Piece("", Flag.HOLE),)
    return (
        lead.flag is Flag.VARIABLE
        and _DIRECTORY.match(lead.text) is not None
        and variables.lookup(lead.text) is None
        and len(rest) == 1
        and rest[0].flag is Flag.PLAIN
        and rest[0].text.startswith("/")
        and not set("*?[{") & set(rest[0].text)
    )


def _looked_up(program: Program, lexed: Lexed) -> str:
    """NAME where a command's name is `$(which NAME)`, since that is what runs; "" otherwise."""
    code = lexed.codes[0] if len(lexed.codes) == 1 else None
    if code is None or code.process:
        return ""
    ticked = program.ticks[code.tick] if code.tick >= 0 else code.text
    text = ticked if code.node is None else program.text[code.node.start + 2 : code.node.end - 1]
    found = _LOOKUP.match(text)
    return found["name"] if found else ""


def _read(
    listing: Listing, program: Program, start: int, end: int, variables: Variables, depth: int = 0
) -> Word:
    if not _MAY.search(program.text, start, end):
        return read_word(program.text, start, end, program.spans, variables)
    lexed = folded(listing, program, lex(program.text, start, end, program.spans), variables, depth=depth)
    return expand(lexed, variables, bare=program.text[start:end])


def folded(
    listing: Listing, program: Program, lexed: Lexed, variables: Variables, *, depth: int = 0
) -> Lexed:
    """The same with each hole whose output is known replaced by that."""
    if not lexed.codes:
        return lexed
    pieces = tuple(
        part for piece in lexed.pieces for part in _fold(listing, program, piece, variables, depth)
    )
    return msgspec.structs.replace(lexed, pieces=pieces)


def _fold(
    listing: Listing, program: Program, piece: Piece, variables: Variables, depth: int
) -> Sequence[Piece]:
    if piece.flag not in _HOLES or piece.code is None or piece.code.process:
        return (piece,)
    quoted = piece.flag is Flag.QUOTED_HOLE
    text = (
        printed(listing, program, piece.code, variables, depth=depth) if quoted or variables.splits else None
    )
    if text is None:
        return (piece,)
    found: list[Piece] = []
    for index, part in enumerate(text.rstrip("\n").split(HOLE)):
        found += [Piece("", piece.flag)] if index else []
        found += [Piece(part, Flag.DOUBLE if quoted else Flag.OUTPUT)] if part or quoted else []
    return found


def printed(
    listing: Listing, program: Program, code: Code, variables: Variables, *, depth: int = 0
) -> str | None:
    """All that the code prints (bytes view, with holes), if that is known."""
    if depth >= MAX_DEPTH or listing.folds >= MAX_FOLDS:
        return None
    listing.folds += 1
    node = code.node
    if node is None:
        text = program.ticks[code.tick] if code.tick >= 0 else code.text
        if not _PRINTS.match(text) or len(text) > MAX_VALUE:
            return None
        inner = parse(text, nested=True)
        if isinstance(inner, Refusal) or inner.has_error or not inner.sure:
            return None
        program, node = inner, inner.root
    elif not _PRINTS.match(program.text, node.start + 2, node.end):
        return None
    statements = [child for child in node.children if child.named]
    if len(statements) != 1 or any(child.kind == "&" for child in node.children):
        return None
    stages = [statements[0]]
    if statements[0].kind == "pipeline":
        if any(child.kind == "|&" for child in statements[0].children):
            return None
        stages = [child for child in statements[0].children if child.named]
    known = NO_INPUT
    state = variables.copy()
    for stage in stages:
        known = Input(True, _stage(listing, program, stage, known, state, depth))
        if known.text is None or len(known.text) > MAX_VALUE:
            return None
    return known.text


def _stage(
    listing: Listing, program: Program, node: Node, stdin: Input, variables: Variables, depth: int
) -> str | None:
    parts = node.children
    if node.kind == "redirected_statement" and parts and parts[0].kind == "command":
        parts = [*parts[0].children, *parts[1:]]
    elif node.kind != "command":
        return None
    spans: list[tuple[int, int]] = []
    for child in parts:
        if child.kind == "herestring_redirect":
            fed = [part for part in child.children if part.named]
            if len(fed) != 1 or child.children[0].kind != "<<<":
                return None
            lexed = folded(
                listing,
                program,
                lex(program.text, fed[0].start, fed[0].end, program.spans),
                variables,
                depth=depth + 1,
            )
            words = expand(lexed, variables, split=False).arguments
            stdin = Input(True, code_text(words[0].value if words else "") + "\n")
        elif not child.named or child.kind == "variable_assignment" or child.kind.endswith("redirect"):
            return None
        elif spans and spans[-1][1] == child.start:
            spans[-1] = (spans[-1][0], child.end)
        else:
            spans.append((child.start, child.end))
    found = [_read(listing, program, start, end, variables, depth + 1) for start, end in spans]
    arguments = [argument for word in found for argument in word.arguments]
    if not arguments or any(word.overflow or word.lexed.silent for word in found):
        return None
    name = arguments[0].value
    changed = name in listing.functions or name in listing.aliases or listing.any_alias
    plain = name != "echo" or not any("\\" in word.value for word in arguments)  # shells differ
    return output_text(arguments, stdin) if plain and not changed else None
