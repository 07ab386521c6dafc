"""What of CEL a rule may use, checked on the tree that will run, and what running it can cost.

Admitted: ``&& || ! == != in``, ``exists`` at most two deep, ``startsWith endsWith contains``, ``matches``
with a literal pattern, literals (bool, int, string), lists of literals, and fields of the view. Nothing
that computes, counts, orders, indexes or builds: such a rule could cost more than its text shows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Final

import msgspec

from latchd.rules.checked import Call, Const, Fold, Ident, ListOf, Node, Select
from latchd.rules.engine import MAX_DEPTH, MAX_NESTED, MAX_NODES, MAX_PATTERN
from latchd.rules.shapes import BOOL, INT, RECORDS, ListShape, Record, Scalar, Shape

_BOTH: Final = frozenset(("_&&_", "_||_"))
_EQUAL: Final = frozenset(("_==_", "_!=_"))
_TEXTUAL: Final = frozenset(("startsWith", "endsWith", "contains", "matches"))
# The library compiles a literal pattern anew at each evaluation: measured at 2 to 8 µs, as many nodes' worth.
_MATCH_STEPS: Final = 160
_REFUSED: Final[dict[str, str]] = {
    "_?_:_": "a choice (`? :`)",
    "_[_]": "indexing",
    "size": "`size`",
    "-_": "arithmetic",
    **dict.fromkeys(("_+_", "_-_", "_*_", "_/_", "_%_"), "arithmetic"),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), "ordering"),
}


class NotAdmitted(Exception):
    """Something in the tree that a rule may not use; ``at`` is the node's id."""

    def __init__(self, at: int, why: str) -> None:
        super().__init__(why)
        self.at = at
        self.why = why


class Cost(msgspec.Struct, frozen=True):
    """Nodes visited at most: for each term its nodes, times the sizes of the lists that repeat them."""

    terms: tuple[tuple[tuple[str, ...], int], ...]

    def steps(self, sizes: Mapping[str, int]) -> int:
        total = 0
        for lists, nodes in self.terms:
            for name in lists:
                nodes *= sizes.get(name, 0)
            total += nodes
        return total


class Binding(msgspec.Struct, frozen=True):
    """A variable of an ``exists``: what it stands for, and the list it runs over."""

    shape: Shape
    list: str


def admit(root: Node, pattern_fault: Callable[[str], str]) -> Cost:
    """The cost of an admitted expression. Raises NotAdmitted.

    ``pattern_fault(pattern)`` says what is wrong with a literal pattern, "" when nothing is.
    """
    check = _Check(pattern_fault)
    found = check.shape(root, {}, (), 1)
    if found != BOOL:
        raise NotAdmitted(root.at, "a rule says true or false, and this is no condition")
    return Cost(tuple(sorted(check.nodes.items())))


class _Check:
    def __init__(self, pattern_fault: Callable[[str], str]) -> None:
        self.nodes: Counter[tuple[str, ...]] = Counter()
        self._pattern_fault = pattern_fault
        self._visited = 0

    def shape(self, node: Node, bound: Mapping[str, Binding], lists: tuple[str, ...], depth: int) -> Shape:
        """What a node yields; ``lists`` are those that repeat it."""
        self.nodes[lists] += 1
        if depth > MAX_DEPTH:
            raise NotAdmitted(node.at, f"the expression is nested more than {MAX_DEPTH} deep")
        self._visited += 1
        if self._visited > MAX_NODES:
            raise NotAdmitted(node.at, f"the expression has more than {MAX_NODES} parts")
        match node:
            case Const(value=bool()):
                return BOOL
            case Const(value=int()):
                return INT
            case Const(value=str(word)):
                return Scalar("string", frozenset((word,)))
            case Const():
                raise NotAdmitted(node.at, "only bool, int and string literals are admitted")
            case Ident(name="f"):
                return Record("facts")
            case Ident(name=name) if name in bound:
                return bound[name].shape
            case Ident(name=name):
                raise NotAdmitted(node.at, f"`{name}` is not known here")
            case Select():
                return self._field(node, bound, lists, depth)
            case ListOf():
                return self._list(node, bound, lists, depth)
            case Fold():
                return self._exists(node, bound, lists, depth)
            case Call():
                return self._call(node, bound, lists, depth)
            case _:
                raise NotAdmitted(node.at, "maps and messages are not admitted")

    def _field(self, node: Select, bound: Mapping[str, Binding], lists: tuple[str, ...], depth: int) -> Shape:
        if node.test_only:
            raise NotAdmitted(node.at, "`has` is not admitted; every field is always there")
        owner = self.shape(node.operand, bound, lists, depth + 1)
        if not isinstance(owner, Record):
            raise NotAdmitted(node.at, f"`{node.field}` is asked of something that has no fields")
        fields = RECORDS[owner.name]
        if node.field not in fields:
            raise NotAdmitted(node.at, f"`{node.field}` is no field of a {owner.name}")
        return fields[node.field][0]

    def _list(self, node: ListOf, bound: Mapping[str, Binding], lists: tuple[str, ...], depth: int) -> Shape:
        if not node.elements or not all(isinstance(element, Const) for element in node.elements):
            raise NotAdmitted(node.at, "a list holds literals, at least one")
        kinds = [self.shape(element, bound, lists, depth + 1) for element in node.elements]
        scalars = [kind for kind in kinds if isinstance(kind, Scalar)]
        if len({scalar.kind for scalar in scalars}) != 1:
            raise NotAdmitted(node.at, "the members of a list must be of one kind")
        words = frozenset[str]().union(*(scalar.words or () for scalar in scalars))
        return ListShape(Scalar(scalars[0].kind, words if scalars[0].kind == "string" else None))

    def _call(self, node: Call, bound: Mapping[str, Binding], lists: tuple[str, ...], depth: int) -> Shape:
        name = node.function
        if name in _BOTH | {"!_"}:
            for arg in node.args:
                if self.shape(arg, bound, lists, depth + 1) != BOOL:
                    raise NotAdmitted(arg.at, "a condition is needed here")
            return BOOL
        if name in _EQUAL | {"@in"}:
            left, right = (self.shape(arg, bound, lists, depth + 1) for arg in node.args)
            _comparable(node, left, right if name in _EQUAL else _member(node, right))
            return BOOL
        if name in _TEXTUAL and len(node.args) == 2:
            kinds = [self.shape(arg, bound, lists, depth + 1) for arg in node.args]
            if not all(isinstance(kind, Scalar) and kind.kind == "string" for kind in kinds):
                raise NotAdmitted(node.at, f"`{name}` is asked of a text, about a text")
            if name == "matches":
                self._pattern(node.args[1])
                self.nodes[lists] += _MATCH_STEPS
            return BOOL
        what = _REFUSED.get(name, f"`{name.strip('_@')}`")
        raise NotAdmitted(node.at, f"{what} is not admitted in a rule")

    def _pattern(self, node: Node) -> None:
        if not (isinstance(node, Const) and isinstance(node.value, str)):
            raise NotAdmitted(node.at, "`matches` takes a literal pattern")
        if len(node.value.encode()) > MAX_PATTERN:
            raise NotAdmitted(node.at, f"a pattern in an expression has at most {MAX_PATTERN} bytes")
        if fault := self._pattern_fault(node.value):
            raise NotAdmitted(node.at, f"the pattern is wrong: {fault}")

    def _exists(self, node: Fold, bound: Mapping[str, Binding], lists: tuple[str, ...], depth: int) -> Shape:
        predicate = exists_predicate(node)
        if predicate is None:
            raise NotAdmitted(node.at, "of the macros only `exists` is admitted")
        if len(bound) >= MAX_NESTED:
            raise NotAdmitted(node.at, f"`exists` may stand in {MAX_NESTED - 1} other, no deeper")
        if node.variable == "f" or node.variable in bound:
            raise NotAdmitted(node.at, f"`{node.variable}` has a meaning already")
        over = self.shape(node.range, bound, lists, depth + 1)
        if not isinstance(over, ListShape) or not isinstance(node.range, Select):
            raise NotAdmitted(node.at, "`exists` runs over a list of the facts")
        name, within = _list_name(node.range, bound)
        repeated = (*(each for each in lists if each != within), name)
        inner = {**bound, node.variable: Binding(over.of, name)}
        if self.shape(predicate, inner, repeated, depth + 1) != BOOL:
            raise NotAdmitted(node.at, "`exists` needs a condition")
        return BOOL


def _list_name(node: Select, bound: Mapping[str, Binding]) -> tuple[str, str]:
    """A list's name in the sizes, and the list that its total is already counted over ("" = none)."""
    operand = node.operand
    if isinstance(operand, Ident) and operand.name in bound:
        owner = bound[operand.name].list
        return f"{owner}.{node.field}", owner
    return node.field, ""


def exists_predicate(node: Node) -> Node | None:
    """The condition of an ``exists``; None for what any other macro expands to, and for anything else."""
    if not isinstance(node, Fold):
        return None
    step, condition = node.step, node.condition
    if not (isinstance(node.start, Const) and node.start.value is False):
        return None
    if not (isinstance(step, Call) and step.function == "_||_" and len(step.args) == 2):
        return None
    accumulator, predicate = step.args
    if not (isinstance(accumulator, Ident) and accumulator.name == node.accumulator):
        return None
    plain = isinstance(node.result, Ident) and node.result.name == node.accumulator
    lazy = isinstance(condition, Call) and condition.function == "@not_strictly_false"
    return predicate if plain and lazy else None


def _member(node: Call, shape: Shape) -> Shape:
    if not isinstance(shape, ListShape):
        raise NotAdmitted(node.at, "`in` needs a list on its right")
    return shape.of


def _comparable(node: Call, left: Shape, right: Shape) -> None:
    if not isinstance(left, Scalar) or not isinstance(right, Scalar):
        raise NotAdmitted(node.at, "only single values can be compared")
    if left.kind != right.kind:
        raise NotAdmitted(node.at, f"a {left.kind} is compared with a {right.kind}")
    if left.words is None or right.words is None:
        return
    sides = ((node.args[0], left.words, right.words), (node.args[1], right.words, left.words))
    literal = [(words, closed) for side, words, closed in sides if isinstance(side, Const | ListOf)]
    if not literal and left.words != right.words:
        raise NotAdmitted(node.at, "these two never hold the same words")
    for words, closed in literal:
        if unknown := sorted(words - closed):
            raise NotAdmitted(node.at, f"`{unknown[0]}` is no value that can stand here")
