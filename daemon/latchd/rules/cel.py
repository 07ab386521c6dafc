"""CEL by cel-expr-python: the one importer of it.

The library's traps, each met here: an error comes back as a Value that is true in Python, so a result
counts only when its type is BOOL; a key that does not exist is found when it runs, so names are checked
against shapes.py; a bad literal pattern too, so each is compiled when the rule is loaded; the limits on
iterations raise.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from latchd.rules import checked, patterns
from latchd.rules.engine import MAX_SOURCE, BudgetSpent, CompileError, EvaluationError, View
from latchd.rules.necessity import Filter, filter_of
from latchd.rules.subset import Cost, NotAdmitted, admit

if TYPE_CHECKING:
    from cel_expr_python import (  # type: ignore[import-untyped]
        cel,  # pyright: ignore[reportMissingTypeStubs]
    )

_PLACE: Final = re.compile(r"<input>:(\d+):(\d+): ([^\n]*)")


class CelProgram:
    """An admitted expression, compiled."""

    __slots__ = ("_cost", "_expression", "_filter", "source")

    def __init__(self, source: str, expression: cel.Expression, cost: Cost, necessary: Filter | None) -> None:
        self.source = source
        self._filter = necessary
        self._expression = expression
        self._cost = cost

    def steps(self, sizes: Mapping[str, int]) -> int:
        return self._cost.steps(sizes)

    def holds(self, view: View) -> bool:
        if self._filter is not None and not self._filter.passes(view):
            return False
        if view.native is None:
            view.native = _environment().Activation({"f": view.facts})
        native: Any = view.native
        try:
            value = self._expression.eval(native)
        except RuntimeError as error:
            raise BudgetSpent(_line(error)) from None
        if value.type() != _bool():
            raise EvaluationError(f"no truth value: {str(value.value())[:200]}")
        return value.value() is True


class CelEngine:
    """Compiles expressions over the one variable `f`. The library is loaded with the first of them."""

    def compile(self, source: str) -> CelProgram:
        if len(source.encode()) > MAX_SOURCE:
            raise CompileError(1, 1, f"the expression has more than {MAX_SOURCE} bytes")
        try:
            expression = _environment().compile(source)
        except RuntimeError as error:
            raise _compile_error(error) from None
        tree = checked.read(expression.serialize())
        try:
            cost = admit(tree.root, patterns.fault)
        except NotAdmitted as error:
            line, column = _place(source, tree.offset(error.at))
            raise CompileError(line, column, error.why) from None
        if expression.return_type() != _bool():
            raise CompileError(1, 1, "a rule says true or false, and this is no condition")
        return CelProgram(source, expression, cost, filter_of(tree.root))


@functools.cache
def _environment() -> cel.Env:
    from cel_expr_python import cel  # pyright: ignore[reportMissingTypeStubs]

    return cel.NewEnv(variables={"f": cel.Type.Map(cel.Type.STRING, cel.Type.DYN)})


@functools.cache
def _bool() -> cel.Type:
    from cel_expr_python import cel  # pyright: ignore[reportMissingTypeStubs]

    return cel.Type.BOOL


def _compile_error(error: RuntimeError) -> CompileError:
    found = _PLACE.search(str(error))
    if found is None:
        return CompileError(1, 1, _line(error))
    why = found[3].removesuffix(" (in container '')")
    return CompileError(int(found[1]), int(found[2]), f"{why[:1].lower()}{why[1:]}")


def _place(source: str, offset: int) -> tuple[int, int]:
    before = source[:offset]
    return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1


def _line(error: Exception) -> str:
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0][:200]
