"""What a rule language must offer: compile a text once, then say of a view whether it holds.

A closed set of outcomes: true, false, or an error that says which kind it is. Nothing else here may
know which library stands behind it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, Protocol

MAX_SOURCE: Final = 16 * 1024  # bytes of one expression
MAX_NODES: Final = 4096
MAX_DEPTH: Final = 64
MAX_NESTED: Final = 2  # an `exists` within an `exists`, and no deeper
MAX_PATTERN: Final = 512  # bytes of a pattern inside an expression


class RuleError(Exception):
    """A rule can't be used, or not on this call. The text is one line."""


class CompileError(RuleError):
    """The expression is no rule. ``line`` and ``column`` count from 1 in its own text."""

    def __init__(self, line: int, column: int, why: str) -> None:
        super().__init__(f"{line}:{column}: {why}")
        self.line = line
        self.column = column
        self.why = why


class EvaluationError(RuleError):
    """The expression has no truth value on these facts."""


class BudgetSpent(RuleError):
    """To say whether the expression holds would take more steps than there are left."""


class View:
    """Facts as a rule sees them: one mapping, what its lists measure, and room for the engine's own form.

    ``sizes`` counts the members of each list by its name (``commands``, ``commands.argv`` over all
    commands together, …); they bound what an evaluation can cost before it is begun.
    """

    __slots__ = ("facts", "native", "sizes", "text")

    def __init__(self, facts: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
        self.facts = facts
        self.sizes = sizes
        self.native: object | None = None
        self.text: str | None = None  # every text of the facts, once one is looked for


class Program(Protocol):
    """One compiled expression; immutable."""

    @property
    def source(self) -> str: ...

    def steps(self, sizes: Mapping[str, int]) -> int:
        """An upper bound of what ``holds`` costs on a view of these sizes, in nodes visited."""
        ...

    def holds(self, view: View) -> bool:
        """Raises EvaluationError, and BudgetSpent when the engine's own limit is met."""
        ...


class RuleEngine(Protocol):
    def compile(self, source: str) -> Program:
        """Raises CompileError."""
        ...
