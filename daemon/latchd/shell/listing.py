"""What the walk over a text collects: raw commands in order, how bytes move, what could not be known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import msgspec

from latch_contracts.facts import Argument, End, Issue, Kind, Reach, Redirect, Wrapper
from latchd.shell.lex import Code, Lexed
from latchd.shell.parse import Node, Program, Refusal, parse
from latchd.shell.variables import Variables

MAX_COMMANDS: Final = 128
MAX_NESTING: Final = 12  # code within code within code
MAX_EXTRA: Final = 32  # commands that are listed once more with other words
MAX_UNREADABLE_BYTES: Final = (
    1024  # then no more code within code is parsed: the parser takes long over errors
)
MAX_NESTED_BYTES: Final = 128 * 1024  # of all code that is parsed, the text itself with it

LIMITS: Final = frozenset(
    {
        Issue.INPUT_LIMIT,
        Issue.NODE_LIMIT,
        Issue.DEPTH_LIMIT,
        Issue.FACT_LIMIT,
        Issue.WRAPPER_LIMIT,
        Issue.TIME_LIMIT,
    }
)


class Input(msgspec.Struct, frozen=True):
    """What a command finds on its stdin. ``text`` is the literal content (bytes view) if known."""

    given: bool = False  # a pipe, file or here-document stands there
    text: str | None = None

    def shared(self) -> Input:
        """The same for several readers: what one of them gets can't be told."""
        return Input(self.given)


NO_INPUT: Final = Input()
SOME_INPUT: Final = Input(given=True)


class Scope(msgspec.Struct, frozen=True):
    """Where in the text a command stands."""

    parent: int = 0
    pipeline: int = 0
    reach: Reach = Reach.ALWAYS
    stdin: Input = NO_INPUT
    enclosing: tuple[Redirect, ...] = ()  # redirections of the compound statements around it
    wrappers: tuple[Wrapper, ...] = ()
    nesting: int = 0
    calls: frozenset[str] = frozenset()  # functions being called

    def within(self, reach: Reach) -> Scope:
        """The same place, reached no more surely than ``reach`` says."""
        order = (Reach.ALWAYS, Reach.CONDITIONAL, Reach.BACKGROUND, Reach.DEFERRED)
        return msgspec.structs.replace(self, reach=max(self.reach, reach, key=order.index))


class Raw(msgspec.Struct):
    """A command before its program's grammar was asked."""

    id: int
    words: tuple[Argument, ...]
    scope: Scope
    places: tuple[str, ...]  # directories it may run in; empty = not known
    stdin: Input = NO_INPUT
    kind: Kind = Kind.PROCESS
    redirects: tuple[Redirect, ...] = ()
    suspected: str = ""
    runs_input: bool = False
    details: tuple[str, ...] = ()
    wrappers: tuple[Wrapper, ...] = ()
    out_piped: bool = False
    remote: bool = False  # its paths are another machine's or another root's
    streams: dict[int, str] = {}  # what its words that are `<(…)` give to read, by their place


class Edge(msgspec.Struct, frozen=True):
    """Bytes of one command reach another."""

    source: int
    target: int
    end: End  # STDIN, or PROCESS when they arrive as words


class Function(msgspec.Struct):
    """A function's body where it is defined. ``whole`` = each of its runs was listed with its words."""

    program: Program
    body: Node
    scope: Scope
    variables: Variables
    called: bool = False
    whole: bool = True


class Full(Exception):
    """No more commands fit."""


Run = Callable[[Program, Node, Scope, Variables], tuple[int, ...]]


class Listing:
    """Mutable collector of one analysis."""

    def __init__(self, run: Run) -> None:
        self.run = run
        self.commands: list[Raw] = []
        self.edges: list[Edge] = []
        self.issues: dict[Issue, None] = {}
        self.functions: dict[str, Function] = {}  # by name, the last definition of each
        self.defined: list[Function] = []
        self.aliases: set[str] = set()
        self.bodies: dict[str, str] = {}  # of aliases, as code
        self.any_alias = False
        self.evaluates = False
        self.dormant: list[tuple[str, Scope]] = []  # text as it is, no bytes view
        self.written: dict[str, list[str | None]] = {}  # what stands in files of the text's own, by last name
        self.scripts: set[str] = set()  # last names of files that were run
        self.pipelines = 0
        self.nested_bytes = 0
        self.unreadable = 0  # bytes of code within code that could not be parsed, or only in part
        self.words = 0  # read so far
        self.extra = 0
        self.folds = 0  # substitutions that were looked at for what they print

    def note(self, issue: Issue) -> None:
        self.issues[issue] = None

    def add(self, raw: Raw) -> int:
        if len(self.commands) >= MAX_COMMANDS:
            self.note(Issue.FACT_LIMIT)
            raise Full
        self.commands.append(raw)
        return raw.id

    def affords(self, extra: int) -> bool:
        """Whether so many commands may be listed once more; they count as listed."""
        if self.extra + extra > MAX_EXTRA:
            return False
        self.extra += extra
        return True

    @property
    def next_id(self) -> int:
        return len(self.commands) + 1

    def heed(self, lexed: Lexed) -> None:
        """Take over what reading a word brought to light."""
        if lexed.silent:
            self.note(Issue.PARSER_SILENCE)
        if lexed.issue is not None:
            self.note(lexed.issue)
        self.evaluates = self.evaluates or lexed.evaluates

    def define(self, name: str, function: Function) -> None:
        """Take over a definition. Of two of one name, either may be what a call runs."""
        before = self.functions.get(name)
        if before is not None:
            before.whole = function.whole = False
        self.functions[name] = function
        self.defined.append(function)

    def list_functions(self) -> None:
        """List the bodies of functions that may run otherwise than in the calls that were listed."""
        for function in self.defined:  # a body may define more of them
            if not (function.called and function.whole):
                self.run(function.program, function.body, function.scope, function.variables)

    def aside(self) -> Listing:
        """A listing for an analysis on the side, with what this one knows."""
        other = Listing(self.run)
        other.functions, other.aliases, other.any_alias = self.functions, self.aliases, self.any_alias
        other.bodies = self.bodies
        other.folds = self.folds
        return other

    def take_doubts(self, other: Listing) -> None:
        """Take over what an analysis on the side could not know, and none of its commands."""
        self.issues |= other.issues
        self.folds = other.folds
        self.dormant += other.dormant
        self.any_alias = self.any_alias or other.any_alias
        self.evaluates = self.evaluates or other.evaluates

    def codes(
        self,
        program: Program,
        codes: tuple[Code, ...],
        scope: Scope,
        variables: Variables,
        fed: Input = SOME_INPUT,
    ) -> tuple[int, ...]:
        """List the code found inside words; the ids of its outermost commands. `>(…)` gets ``fed``."""
        ids: tuple[int, ...] = ()
        for code in codes:
            inner = msgspec.structs.replace(scope, nesting=scope.nesting + 1, pipeline=0, enclosing=())
            if code.process == ">":
                inner = msgspec.structs.replace(inner, stdin=fed if _is_alone(code) else SOME_INPUT)
            if code.tick >= 0:
                ids += self.text(program.ticks[code.tick], inner, variables.copy())
            elif code.node is not None:
                if inner.nesting > MAX_NESTING:
                    self.note(Issue.DEPTH_LIMIT)
                else:
                    ids += self.run(program, code.node, inner, variables.copy())
            else:
                ids += self.text(code.text, inner, variables.copy())
        return ids

    def text(self, text: str, scope: Scope, variables: Variables) -> tuple[int, ...]:
        """List the commands of code given as text (bytes view); the scope is the code's own."""
        self.nested_bytes += len(text)
        if scope.nesting > MAX_NESTING or self.nested_bytes > MAX_NESTED_BYTES:
            self.note(Issue.DEPTH_LIMIT)
            return ()
        if "\x01" in text:
            self.note(Issue.DYNAMIC_WORD)
        if self.unreadable > MAX_UNREADABLE_BYTES:
            self.note(Issue.TIME_LIMIT)
            return ()
        program = parse(text, nested=True)
        if scope.nesting and (isinstance(program, Refusal) or program.has_error):
            self.unreadable += len(text)
        if isinstance(program, Refusal):
            self.note(program.issue)
            return ()
        return self.run(program, program.root, scope, variables)


def _is_alone(code: Code) -> bool:
    """Whether the code is one simple command, which then gets all of its input."""
    statements = [child for child in code.node.children if child.named] if code.node is not None else []
    return len(statements) == 1 and statements[0].kind == "command"
