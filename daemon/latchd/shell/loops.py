"""The words of a `for` → what its variable may be in one round of the body.

A few words are gone through one by one, as bash does it. More of them, or a body that is too large for
that, leave one round with the text that all words begin with.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument
from latchd.shell.lex import Piece
from latchd.shell.listing import Listing
from latchd.shell.parse import Node, Program
from latchd.shell.variables import UNKNOWN, Value, Variables, pieces_of
from latchd.shell.words import read_words

MAX_ROUNDS: Final = 16
# What these hold changes how everything after them is read.
UNSAFE_NAMES: Final = frozenset({"IFS", "HOME", "PWD", "CDPATH", "PATH"})


def rounds(listing: Listing, program: Program, node: Node, variables: Variables) -> list[dict[str, Value]]:
    """The loop's variable with its value for each round that is gone through; none if nothing is known."""
    name_node = next((child for child in node.children if child.field == "variable"), None)
    body = next((child for child in node.children if child.kind in ("do_group", "compound_statement")), None)
    if name_node is None or body is None or node.children[0].kind != "for":
        return []
    name = program.text[name_node.start : name_node.end]
    if name not in variables.looped or name in UNSAFE_NAMES or not variables.folds:
        return []
    words = _words(program, node, body, variables)
    if not any(child.kind == "in" for child in node.children):  # `for x; do`: the parameters
        words = list((variables.parameters or ())[1:])
    if not words:
        return []
    values = [pieces_of(word) for word in words]
    uses = re.search(rf"\$\{{?[#!]?{name}\b", program.text[body.start : body.end])
    extra = (len(words) - 1) * _commands(body)
    if len(words) > 1 and not (uses and len(words) <= MAX_ROUNDS and listing.affords(extra)):
        values = [_head(words)]
    return [{name: Value(value)} for value in values]


def _words(program: Program, node: Node, body: Node, variables: Variables) -> list[Argument]:
    """All words, or none where they are not surely read."""
    values = [child for child in node.children if child.field == "value"]
    if not values or not re.match(r"\s*(;|\n|#)", program.text[values[-1].end : body.start]):
        return []
    return list(read_words(program, values, variables) or ())


def _head(words: Sequence[Argument]) -> tuple[Piece, ...]:
    """What all words begin with, and then anything."""
    if any(pieces_of(word) == UNKNOWN for word in words):
        return UNKNOWN
    heads = [re.split(r"[*?\[\0]" if word.globs else "\0", word.value)[0] for word in words]
    low, high = min(heads), max(heads)
    same = next((i for i, (a, b) in enumerate(zip(low, high, strict=False)) if a != b), len(low))
    return (*pieces_of(Argument(low[:same])), *UNKNOWN) if same else UNKNOWN


def _commands(node: Node) -> int:
    """How many commands stand in a body: what one more round costs."""
    count, waiting = 0, [node]
    while waiting:
        current = waiting.pop()
        count += current.kind in ("command", "declaration_command", "test_command", "unset_command")
        waiting += current.children
    return count


def is_looping(nodes: Sequence[Node]) -> bool:
    """Whether something among the nodes may run more than once, so that what it prints is not known."""
    waiting = list(nodes)
    while waiting:
        current = waiting.pop()
        if current.kind in ("for_statement", "while_statement", "c_style_for_statement"):
            return True
        waiting += current.children
    return False
