"""Redirections of a statement → facts, and what they put on stdin."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Access, Issue, Redirect
from latchd.shell.lex import Code, Style, lex
from latchd.shell.listing import SOME_INPUT, Input, Listing
from latchd.shell.parse import Node, Program, code_text
from latchd.shell.prepare import BOTH, MARK
from latchd.shell.substituted import folded, printed
from latchd.shell.variables import Variables
from latchd.shell.words import expand, read_word

_ACCESS: Final = {
    "<": (0, Access.READ),
    ">": (1, Access.WRITE),
    ">>": (1, Access.APPEND),
    ">|": (1, Access.WRITE),
    "&>": (-1, Access.WRITE),
    "&>>": (-1, Access.APPEND),
    ">&": (1, Access.WRITE),
    "<&": (0, Access.READ),
    ">&-": (1, Access.WRITE),
    "<&-": (0, Access.READ),
}
_MARKED = re.compile(f"{MARK}(\\d+){MARK}\\Z")
_NUMBER = re.compile(r"(?<![^\s;&|()])\d+\Z")
_COPY = re.compile(r"\d+-?\Z|-\Z")


class Redirected(msgspec.Struct):
    """What a statement's redirections amount to. ``extra`` are words that belong to the command."""

    redirects: list[Redirect] = []
    stdin: Input | None = None  # None = not redirected
    codes: list[Code] = []
    extra: list[tuple[int, int]] = []


def read_redirects(
    listing: Listing, program: Program, nodes: Sequence[Node], variables: Variables
) -> Redirected:
    """Read the redirect nodes of one statement, in order."""
    result = Redirected()
    for node in nodes:
        if node.kind == "herestring_redirect":
            _here_string(listing, program, node, variables, result)
        elif node.kind == "file_redirect":
            _file(listing, program, node, variables, result)
        else:
            listing.note(Issue.PARSER_SILENCE)
    return result


def _here_string(
    listing: Listing, program: Program, node: Node, variables: Variables, result: Redirected
) -> None:
    words = [child for child in node.children if child.named and child.kind != "file_descriptor"]
    result.stdin = SOME_INPUT
    result.extra += [(word.start, word.end) for word in words[1:]]
    if words:
        lexed = lex(program.text, words[0].start, words[0].end, program.spans)
        lexed = folded(listing, program, lexed, variables)
        listing.heed(lexed)
        result.codes += lexed.codes
        arguments = expand(lexed, variables, split=False).arguments
        if arguments:
            result.stdin = Input(True, code_text(arguments[0].value) + "\n")


def _file(listing: Listing, program: Program, node: Node, variables: Variables, result: Redirected) -> None:
    descriptor = operator = ""
    destinations: list[Node] = []
    for child in node.children:
        if child.kind == "file_descriptor":
            descriptor = program.text[child.start : child.end]
        elif child.field == "destination":
            destinations.append(child)
        elif not child.named:
            operator = program.text[child.start : child.end]
        if child.kind == "file_descriptor" and not is_descriptor(descriptor):
            descriptor = ""
            result.extra.append((child.start, child.end))
    before = _NUMBER.search(program.text, max(0, node.start - 8), node.start)
    if not descriptor and before and is_descriptor(before.group()):  # the parser takes it for a word
        descriptor = before.group()
    fd, access = _ACCESS.get(operator, (1, Access.WRITE))
    if descriptor.isdigit():
        fd = int(descriptor)
    if not destinations or operator in (">&-", "<&-"):
        result.redirects.append(Redirect(fd, access, ""))
        result.extra += [(item.start, item.end) for item in destinations]
        return
    first, *rest = destinations
    result.extra += [(item.start, item.end) for item in rest]
    if program.text.startswith(MARK, first.start):
        _here_document(listing, program, first, fd, variables, result)
        return
    both = program.text.startswith(BOTH, first.start)
    word = read_word(program.text, first.start + both, first.end, program.spans, variables)
    listing.heed(word.lexed)
    result.codes += word.lexed.codes
    target = word.arguments[0] if len(word.arguments) == 1 else None
    value = target.value if target is not None else "\0"
    expands = target.expands if target is not None else True
    if operator in (">&", "<&"):
        if _COPY.match(value):
            result.redirects.append(Redirect(fd, access, ""))
            return
        fd = -1 if operator == ">&" and not descriptor else fd
    if any(code.process for code in word.lexed.codes):
        result.redirects.append(Redirect(fd, access, ""))  # a pipe, not a file
    else:
        if both:
            fd = fd if descriptor else 0
            result.redirects.append(Redirect(fd, Access.READ, value, expands))
        result.redirects.append(Redirect(fd, access, value, expands))
    if access is Access.READ and fd == 0:
        streams = [code for code in word.lexed.codes if code.process == "<"]
        alone = len(streams) == len(word.lexed.pieces) == 1
        text = printed(listing, program, streams[0], variables) if alone else None
        result.stdin = Input(True, text)


def _here_document(
    listing: Listing, program: Program, node: Node, fd: int, variables: Variables, result: Redirected
) -> None:
    number = _MARKED.match(program.text[node.start : node.end])
    if number is None:
        listing.note(Issue.PARSER_SILENCE)
        return
    heredoc = program.heredocs[int(number.group(1))]
    text: str | None = heredoc.body
    if heredoc.expands and re.search(r"[$`\\]", heredoc.body):
        lexed = lex(heredoc.body, 0, len(heredoc.body), {}, Style.QUOTED)
        lexed = folded(listing, program, lexed, variables)
        listing.heed(lexed)
        result.codes += lexed.codes
        arguments = expand(lexed, variables, split=False).arguments
        text = code_text(arguments[0].value) if arguments else ""
    if fd == 0:
        result.stdin = Input(True, text)


def is_descriptor(text: str) -> bool:
    """Whether a word that touches a redirection is its number; a larger one is a word of the command."""
    return text.isascii() and text.isdigit() and len(text.lstrip("0")) <= 9
