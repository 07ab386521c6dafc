"""Literal text that bash may evaluate later: a subscript with a substitution in quotes.

`x='a[$(cmd)]'; echo $((x))` runs cmd. Where a text evaluates variables as arithmetic or names, every
such literal in it is read for code.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.lex import Style, lex
from latchd.shell.listing import Listing
from latchd.shell.parse import code_text
from latchd.shell.variables import Variables


def list_dormant(listing: Listing) -> None:
    """List the code of dormant literals if the text may wake them."""
    if not listing.evaluates:
        return
    rewritten = any(_rewrites(raw.words) for raw in listing.commands)
    seen: set[str] = set()
    nothing = Variables("", (), folds=False)
    while listing.dormant:
        text, scope = listing.dormant.pop(0)
        if text in seen:
            continue
        seen.add(text)
        text = code_text(text) if not text.isascii() or "\0" in text else text
        lexed = lex(text, 0, len(text), {}, Style.ARITHMETIC)
        listing.heed(lexed)
        if lexed.codes and rewritten:
            listing.note(Issue.DYNAMIC_WORD)
        inner = msgspec.structs.replace(
            scope.within(Reach.CONDITIONAL), parent=0, pipeline=0, nesting=scope.nesting + 1
        )
        for code in lexed.codes:
            listing.text(code.text, inner, nothing.copy())


def _rewrites(words: Sequence[Argument]) -> bool:
    """Whether this is a `read` that drops backslashes: what it reads differs from what was written."""
    flags = "".join(word.value for word in words[1:] if word.value.startswith("-"))
    return bool(words) and words[0].value == "read" and "r" not in flags
