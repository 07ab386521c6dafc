"""What must be there for an expression to hold, told from its tree: cheaper to look for than to evaluate.

INVARIANT (never a no too much): where nothing is known of a part, the whole is evaluated. The library
compiles a literal pattern anew at each evaluation; here each is compiled once, all alternatives as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, cast

import msgspec

from latchd.rules import patterns
from latchd.rules.checked import Call, Const, Ident, ListOf, Node, Select
from latchd.rules.engine import View
from latchd.rules.subset import exists_predicate

_HOLDING: Final = frozenset(("startsWith", "endsWith", "contains"))
_MOST_WORDS: Final = 64  # to look for; where it takes more, evaluating is no dearer


class Necessity(msgspec.Struct, frozen=True):
    """An expression holds only where one of the words stands in some text of the view, or a command's line
    matches one of the patterns."""

    words: frozenset[str] = frozenset()
    lines: frozenset[str] = frozenset()

    @property
    def loose(self) -> int:
        """How little it tells: a word is found by chance more easily than a pattern."""
        return 4 * len(self.words) + len(self.lines)

    def either(self, other: Necessity) -> Necessity:
        return Necessity(self.words | other.words, self.lines | other.lines)


class Filter:
    """A necessity made ready to be looked for."""

    __slots__ = ("_lines", "_words")

    def __init__(self, necessity: Necessity) -> None:
        self._words = tuple(sorted(necessity.words))
        union = "|".join(f"(?:{pattern})" for pattern in sorted(necessity.lines))
        self._lines = patterns.compiled(union) if union else None

    def passes(self, view: View) -> bool:
        """Whether the expression may hold on this view."""
        if self._lines is not None:
            search = self._lines.search
            if any(search(command["line"]) for command in view.facts["commands"]):
                return True
        if not self._words:
            return False
        text = view.text
        if text is None:
            text = view.text = "\n".join(_texts(view.facts))
        return any(word in text for word in self._words)


def filter_of(root: Node) -> Filter | None:
    """What is to be looked for before an admitted expression is evaluated; None = it is always evaluated."""
    found = needed(root)
    if found is None or len(found.words) > _MOST_WORDS:
        return None
    try:
        return Filter(found)
    except patterns.PatternError:  # all of them together are too large
        return None


def _texts(value: object) -> Iterator[str]:
    """Every text in a view's facts, which are mappings and lists of plain values."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from _texts(list(cast("dict[str, object]", value).values()))
    elif isinstance(value, list):
        for member in cast("list[object]", value):
            yield from _texts(member)


def needed(node: Node) -> Necessity | None:
    """What a condition needs in order to hold; None = nothing is known."""
    predicate = exists_predicate(node)
    if predicate is not None:
        return needed(predicate)
    if not isinstance(node, Call):
        return None
    name, args = node.function, node.args
    if name == "_&&_":
        known = [found for found in map(needed, args) if found is not None]
        return min(known, key=lambda found: found.loose, default=None)
    if name == "_||_":
        return _any([needed(arg) for arg in args])
    if name == "matches" and _is_line(args[0]) and isinstance(args[1], Const):
        return Necessity(lines=frozenset((str(args[1].value),)))
    if name in _HOLDING or name in ("_==_", "@in"):
        return _of_words([word for arg in args for word in _literals(arg)])
    return None


def _any(parts: Sequence[Necessity | None]) -> Necessity | None:
    whole = Necessity()
    for part in parts:
        if part is None:
            return None
        whole = whole.either(part)
    return whole


def _of_words(words: Sequence[object]) -> Necessity | None:
    """One of these stands in the view; nothing is known where one is no text, or the empty one."""
    texts = [word for word in words if isinstance(word, str) and word]
    return Necessity(words=frozenset(texts)) if texts and len(texts) == len(words) else None


def _literals(node: Node) -> Iterator[object]:
    if isinstance(node, Const):
        yield node.value
    elif isinstance(node, ListOf):
        for element in node.elements:
            yield from _literals(element)


def _is_line(node: Node) -> bool:
    return isinstance(node, Select) and node.field == "line" and isinstance(node.operand, Ident)
