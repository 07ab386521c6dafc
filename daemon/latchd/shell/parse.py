"""Bash text → a light tree of our own. The only module that knows tree-sitter.

Gates first, then a fresh parser for every text (a cancelled parser resumes its old input), then an
iterative copy of the tree. Work is bounded by counts, so equal text gives an equal answer; the one thing
that shows in no count, the parser's recovery from error upon error, is bounded by this thread's CPU time.
"""

from __future__ import annotations

import re
import time
from typing import Final

import msgspec
import tree_sitter
import tree_sitter_bash

from latch_contracts.facts import Issue
from latchd.shell.extglob import plain_patterns
from latchd.shell.prepare import Heredoc, Prepared, prepare, separated

MAX_TEXT: Final = 64 * 1024  # bytes
MAX_COUNTS: Final = {
    "|": 256,  # chains that end in a here-document cost quadratic time
    "<<": 256,
    "${": 4096,  # left open, each is read to the end of the text
    "[[": 512,  # nested or left open, each costs the parser as much as a hundred words
}  # outside of here-documents
MAX_DEPTH: Final = 200
MAX_NODES: Final = 8192  # a script of 20 KiB has 5,000
HOLE: Final = "\x01"  # stands in nested code for text that is only known when it runs

_BUFFERS: Final[dict[int, bytearray]] = {}  # by length, so at most _CHUNK of them: 2 MiB in all
_CHUNK: Final = 2048  # bytes per read; reads are the measure of rescanning, which is where time is lost
_CALLBACKS: Final = 1500  # a clean 64 KiB takes about 900
_ERROR_CALLBACKS: Final = 100  # after the first error only salvage remains
# CPU seconds of one parse: a clean text takes 0.2 ms for each KiB, one that is all errors up to 20
_SECONDS: Final = 0.020
_SECONDS_PER_BYTE: Final = 0.00025 / 1024
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_NESTED_CONTROL = re.compile(r"[\x00\x02-\x08\x0b\x0c\x0e-\x1f\x7f]")
_LANGUAGE = tree_sitter.Language(tree_sitter_bash.language())

cpu_time = time.thread_time  # a name of this module, so that a test can stop it

SPANS: Final = frozenset(
    {"command_substitution", "process_substitution", "expansion", "simple_expansion", "arithmetic_expansion"}
)


class Node(msgspec.Struct, frozen=True, gc=False):
    """One node of the tree. ``start`` and ``end`` index the program's text."""

    kind: str
    start: int
    end: int
    field: str
    named: bool
    missing: bool
    children: list[Node]


class Program(msgspec.Struct, frozen=True):
    """Parsed shell text. ``text`` has one character per byte of the source (Latin-1 view)."""

    text: str
    root: Node
    has_error: bool
    sure: bool
    spans: dict[int, Node]  # expansions and substitutions by where they start
    heredocs: tuple[Heredoc, ...]
    ticks: tuple[str, ...]  # code that stood in backticks


class Refusal(msgspec.Struct, frozen=True):
    """The text was not parsed, and why."""

    issue: Issue


def gate(text: str, *, nested: bool = False) -> Issue | None:
    """Why this text must not reach the parser, or nothing. Nested code may hold HOLE."""
    if len(text) > MAX_TEXT:
        return Issue.INPUT_LIMIT
    if (_NESTED_CONTROL if nested else _CONTROL).search(text) or "\r" in text or text.startswith("\ufeff"):
        return Issue.CONTROL_BYTES
    return None


def to_bytes_view(text: str) -> str | None:
    """The text with one character per UTF-8 byte, or None if it has lone surrogates."""
    if text.isascii():
        return text
    try:
        return text.encode().decode("latin-1")
    except UnicodeEncodeError:
        return None


def from_bytes_view(text: str) -> str:
    return text if text.isascii() else text.encode("latin-1").decode("utf-8", "replace")


def code_text(value: str) -> str:
    """An argument's value as the text of nested code: bytes view, holes marked."""
    return value.encode("utf-8", "replace").decode("latin-1").replace("\0", HOLE)


def parse(text: str, *, nested: bool = False) -> Program | Refusal:
    """Parse shell text given in the bytes view; ``nested`` for code taken out of other code."""
    issue = gate(text, nested=nested)
    if issue is not None:
        return Refusal(issue)
    prepared = prepare(text)
    if prepared.excess or any(prepared.text.count(item) > most for item, most in MAX_COUNTS.items()):
        return Refusal(Issue.INPUT_LIMIT)
    program = _tree(prepared)
    if isinstance(program, Program) and program.has_error:
        plain = plain_patterns(text)
        for other in (prepare(plain) if plain != text else None, separated(plain)):
            again = _tree(other) if other is not None and not other.excess else program
            if isinstance(again, Program) and not again.has_error:
                return again
    return program


def reparse(program: Program, text: str) -> Program | Refusal:
    """Parse ``text``, an edit of the program's own text that keeps every offset."""
    return _tree(Prepared(text, program.heredocs, program.ticks, program.sure))


def _tree(prepared: Prepared) -> Program | Refusal:
    source = _without_braces(prepared.text).encode("latin-1")
    reads = callbacks = errors = 0
    read_budget = 400 + 12 * (len(source) // _CHUNK)
    end = 0.0  # of the CPU time, once the parser calls back: of a short text it never does

    def read(offset: int, _point: object) -> bytes | bytearray:
        nonlocal reads
        reads += 1
        # Beyond the budget the text ends here, but never within a letter: the lexer asks again for one that
        # a chunk cuts in two, and reads through a null pointer when it gets nothing (tree-sitter 0.26).
        if reads > read_budget and (offset >= len(source) or source[offset] < 0x80):
            return b""
        return _lent(source[offset : offset + _CHUNK])

    def progress(_offset: int, has_error: bool) -> bool:
        nonlocal callbacks, errors, end
        now = cpu_time()
        end = end or now + _SECONDS + _SECONDS_PER_BYTE * len(source)
        callbacks += 1
        errors += has_error
        spent = reads > read_budget or callbacks > _CALLBACKS or errors > _ERROR_CALLBACKS
        return spent or now > end

    try:
        tree = tree_sitter.Parser(_LANGUAGE).parse(read, progress_callback=progress)
    except ValueError:
        return Refusal(Issue.TIME_LIMIT)
    if reads > read_budget:  # the tree is of a cut text
        return Refusal(Issue.TIME_LIMIT)
    return _copy(tree, prepared)


_BRACED_ITEM: Final = r"[^\s{}()<>;&|$`'\"\\#]|\$(?=\w)|'[^'\n]*'|\"[^\"$`\\\n]*\""  # no two begin alike
_BRACED: Final = re.compile(
    rf"(?<![\w$\\'\"=./)-])\{{(?=[^\s{{}}]{{0,512}}(?:,|\.\.))((?:{_BRACED_ITEM}){{1,512}})\}}", re.ASCII
)
_BRACED_DEPTH: Final = 4


def _without_braces(text: str) -> str:
    """The text as the parser is to see it: `{rm,-rf,x}` one word, where it looks for a group.

    The program keeps the text as it is, and what the braces make is read from there.
    """
    for _ in range(_BRACED_DEPTH):
        if "{" not in text or not (found := _BRACED.sub(r",\1,", text)) or found == text:
            break
        text = found
    return text


def _lent(piece: bytes) -> bytes | bytearray:
    """The piece in a buffer that is lent out again and again.

    The binding (0.25, 0.26) never gives back what a read callable returned, so a fresh object for each
    read is lost for good: the text of every command ever judged. It looks at one piece at a time.
    """
    if not piece:
        return b""
    buffer = _BUFFERS.get(len(piece))
    if buffer is None:
        buffer = _BUFFERS[len(piece)] = bytearray(len(piece))
    buffer[:] = piece
    return buffer


def _copy(tree: tree_sitter.Tree, prepared: Prepared) -> Program | Refusal:
    cursor = tree.walk()
    spans: dict[int, Node] = {}
    path: list[Node] = []
    root: Node | None = None
    has_error = tree.root_node.has_error
    count = 0
    while True:
        raw = cursor.node
        assert raw is not None  # noqa: S101 - a cursor always stands on a node
        kind = raw.type
        node = Node(
            kind, raw.start_byte, raw.end_byte, cursor.field_name or "", raw.is_named, raw.is_missing, []
        )
        count += 1
        if count > MAX_NODES:
            return Refusal(Issue.NODE_LIMIT)
        if path:
            path[-1].children.append(node)
        else:
            root = node
        if kind in SPANS:
            spans.setdefault(node.start, node)
        if cursor.goto_first_child():
            path.append(node)
            if len(path) > MAX_DEPTH:
                return Refusal(Issue.DEPTH_LIMIT)
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                assert root is not None  # noqa: S101
                return Program(
                    prepared.text, root, has_error, prepared.sure, spans, prepared.heredocs, prepared.ticks
                )
            path.pop()
