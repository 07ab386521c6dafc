"""Statements → raw commands: which run, when, in what pipeline, with whose output.

Walks the tree once in source order. The straight line carries what is known of variables; a branch,
loop or subshell works on a copy and the line goes on with what both sides agree on.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import End, Issue, Kind, Reach
from latchd.shell import calls
from latchd.shell.assignments import assign, assignments, moves_parameters, settled_names, volatile_names
from latchd.shell.audit import WORDS, doubts, without_prefixes
from latchd.shell.lex import Style, lex
from latchd.shell.listing import SOME_INPUT, Edge, Function, Listing, Raw, Scope
from latchd.shell.loops import is_looping, rounds
from latchd.shell.parse import Node, Program, Refusal, from_bytes_view
from latchd.shell.redirects import read_redirects
from latchd.shell.variables import PARAMETERS, Value, Variables
from latchd.shell.written import note_writes

_LOOPS: Final = frozenset({"for_statement", "while_statement", "c_style_for_statement"})
_REDIRECTS: Final = frozenset({"file_redirect", "herestring_redirect", "heredoc_redirect"})
_TEST_EVALUATES = re.compile(r"-(v|R|eq|ne|lt|le|gt|ge)\b|\[\[.*[<>]")
_MOVES = re.compile(r"\b(cd|pushd|popd|eval|source)\b|(^|[;&|\n({])\s*\.\s", re.MULTILINE)
_DORMANT = re.compile(r"\$\(|`|\$\{")
_ENDS = frozenset({"exit", "return"})


def run(
    listing: Listing, program: Program, node: Node, scope: Scope, variables: Variables
) -> tuple[int, ...]:
    """List all commands below a node; the ids of those that share its stdin and stdout."""
    background: frozenset[int] = frozenset()
    if node is program.root:
        cleaned, background = without_prefixes(program)
        if isinstance(cleaned, Refusal):
            listing.note(cleaned.issue)
            return ()
        program = cleaned
        node = program.root
        for issue in doubts(program):
            listing.note(issue)
        if scope.nesting == 0 and not variables.values:
            variables.settled = settled_names(program.text)
        volatile, looped, certain = volatile_names(program)
        elsewhere = variables.volatile - variables.looped
        variables.looped = (variables.looped | looped) - volatile - elsewhere
        volatile |= looped
        variables.volatile |= volatile
        variables.folds = variables.folds and certain and "IFS" not in volatile
        variables.forget(*volatile)
    if moves_parameters(program, node):
        variables.parameters = None
        variables.volatile |= {PARAMETERS}
    walk = _Walk(listing, program, background)
    if node.kind in ("program", "command_substitution", "process_substitution"):
        return walk.block(node.children, scope, variables)
    return walk.statement(node, scope, variables)


class _Walk:
    """The walk over one program."""

    def __init__(self, listing: Listing, program: Program, background: frozenset[int]) -> None:
        self.listing = listing
        self.program = program
        self.background = background

    def block(self, nodes: Sequence[Node], scope: Scope, variables: Variables) -> tuple[int, ...]:
        """Statements one after the other, each as it stands before `;`, `&` or a newline."""
        ids: tuple[int, ...] = ()
        for index, node in enumerate(nodes):
            if not node.named or node.kind == "comment":
                continue
            if index + 1 < len(nodes) and nodes[index + 1].kind == "&":
                ids += self.statement(node, scope.within(Reach.BACKGROUND), variables.copy())
                continue
            ids += self.line(node, scope, variables)
        return ids

    def line(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        """One statement of a straight line: what follows it runs even if it fails."""
        if variables.strict:
            return self.statement(node, scope, variables)
        places = variables.places
        ids = self.statement(node, scope, variables)
        if variables.places != places and not self._ends_on_failure(node):
            before = variables.copy()
            before.places = places
            variables.meet(before)
        return ids

    def statement(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        kind = node.kind
        if node.start in self.background:
            scope, variables = scope.within(Reach.BACKGROUND), variables.copy()
        if kind == "command":
            return calls.command(self.listing, self.program, node, (), scope, variables)
        if kind == "redirected_statement":
            return self._redirected(node, scope, variables)
        if kind == "list":
            return self._list(node, scope, variables)
        if kind == "pipeline":
            return self._pipeline(node, scope, variables)
        if kind in ("declaration_command", "unset_command"):
            return calls.declaration(self.listing, self.program, node, (), scope, variables)
        if kind == "test_command":
            return self._test(node, scope, variables)
        if kind in ("variable_assignment", "variable_assignments"):
            line = node
            if kind == "variable_assignment":
                line = Node("variable_assignments", node.start, node.end, "", True, False, [node])
            settings = assignments(self.program, line)
            if len(settings) < sum(child.kind == "variable_assignment" for child in line.children):
                return calls.command(self.listing, self.program, line, (), scope, variables)
            for item in settings:
                assign(self.listing, self.program, item, scope, variables)
            return ()
        if kind == "subshell":
            return self.block(node.children, scope, variables.copy())
        if kind == "compound_statement":
            if node.children and node.children[0].kind == "((":
                self.listing.evaluates = True
                self._scan(node, scope, variables, Style.ARITHMETIC)
                return ()
            return self.block(node.children, scope, variables)
        if kind == "negated_command":
            return self.block(node.children, scope, variables)
        if kind == "if_statement":
            return self._if(node, scope, variables)
        if kind in _LOOPS:
            return self._loop(node, scope, variables)
        if kind == "case_statement":
            return self._case(node, scope, variables)
        if kind == "function_definition":
            return self._function(node, scope, variables)
        if kind == "ERROR" or kind in ("do_group", "elif_clause", "else_clause", "case_item"):
            return self._salvage(node, scope, variables)
        if kind in WORDS or kind in ("array", "subscript"):
            self._scan(node, scope, variables, Style.LOOSE)
            return ()
        if kind in _REDIRECTS:
            return self._redirect_only([node], scope, variables)
        self.listing.note(Issue.UNSUPPORTED_CONSTRUCT)
        return self._salvage(node, scope, variables)

    def _salvage(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        return self.block(node.children, scope.within(Reach.CONDITIONAL), variables.copy())

    def _scan(self, node: Node, scope: Scope, variables: Variables, style: Style) -> tuple[int, ...]:
        """List only the code inside a stretch of text."""
        lexed = lex(self.program.text, node.start, node.end, self.program.spans, style)
        self.listing.heed(lexed)
        return self.listing.codes(self.program, lexed.codes, scope, variables)

    def _sleeping(self, node: Node, scope: Scope) -> None:
        """Keep literal text that may be evaluated later, as it is without its quotes."""
        lexed = lex(self.program.text, node.start, node.end, self.program.spans, Style.LOOSE)
        text = "".join(piece.text for piece in lexed.pieces)
        if _DORMANT.search(text):
            self.listing.dormant.append((from_bytes_view(text), scope))

    def _list(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        parts = _chain(node)
        ids: tuple[int, ...] = self.statement(parts[0][1], scope, variables)
        known = variables.copy()  # what holds whichever of the rest runs
        for operator, part in parts[1:]:
            if operator == "&&":
                ids += self.statement(part, scope.within(Reach.CONDITIONAL), variables)
                continue
            aside = variables.copy()
            aside.meet(known)
            ids += self.statement(part, scope.within(Reach.CONDITIONAL), aside)
            if not self._terminates(part):
                variables.meet(aside)
        if (
            len(parts) > 1
            and not variables.strict
            and not all(operator == "||" and self._terminates(part) for operator, part in parts[1:])
        ):
            places = variables.places
            variables.meet(known)
            variables.places = places  # the line decides; see `line`
        return ids

    def _terminates(self, node: Node) -> bool:
        text = self.program.text[node.start : node.end].strip("{} ;\n")
        return bool(text) and re.split(r"[;&|\n]\s*", text)[-1].split(" ")[0] in _ENDS

    def _ends_on_failure(self, node: Node) -> bool:
        if node.kind != "list":
            return False
        parts = _chain(node)
        return parts[-1][0] == "||" and self._terminates(parts[-1][1])

    def _pipeline(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        self.listing.pipelines += 1
        stages = [child for child in node.children if child.named and child.kind != "comment"]
        inner = msgspec.structs.replace(scope, pipeline=self.listing.pipelines)
        before: tuple[int, ...] = ()
        first: tuple[int, ...] = ()
        for index, stage in enumerate(stages):
            here = inner
            if index:
                again = is_looping(stages[index - 1 : index])
                output = SOME_INPUT if again else calls.output_of(self.listing, before)
                alone = stage.kind == "command" or (
                    stage.kind == "redirected_statement" and stage.children[0].kind == "command"
                )
                here = msgspec.structs.replace(inner, stdin=output if alone else output.shared())
            ids = self.statement(stage, here, variables.copy())
            if index:
                self._join(before, ids)
            else:
                first = ids
            before = ids
        return tuple(dict.fromkeys(first + before))

    def _join(self, sources: tuple[int, ...], targets: tuple[int, ...]) -> None:
        commands = self.listing.commands
        for source in sources:
            if any(item.fd in (1, -1) for item in commands[source - 1].redirects):
                continue
            commands[source - 1].out_piped = True
            for target in targets:
                if not any(item.fd == 0 for item in commands[target - 1].redirects):
                    self.listing.edges.append(Edge(source, target, End.STDIN))

    def _redirected(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        redirects = [child for child in node.children if child.kind in _REDIRECTS]
        bodies = [child for child in node.children if child.kind not in _REDIRECTS]
        if not bodies:
            return self._redirect_only(redirects, scope, variables)
        body = bodies[0]
        if len(bodies) > 1:
            self.listing.note(Issue.PARSER_SILENCE)
            return self._salvage(node, scope, variables)
        if body.kind == "command":
            return calls.command(self.listing, self.program, body, redirects, scope, variables)
        if body.kind in ("declaration_command", "unset_command"):
            return calls.declaration(self.listing, self.program, body, redirects, scope, variables)
        if body.kind in ("pipeline", "list", "negated_command"):  # bash gives them to the last command
            return self._last_redirected(body, redirects, scope, variables)
        return self._enclosed(body, redirects, scope, variables)

    def _last_redirected(
        self, body: Node, redirects: Sequence[Node], scope: Scope, variables: Variables
    ) -> tuple[int, ...]:
        last = next(child for child in reversed(body.children) if child.named and child.kind != "comment")
        moved = Node(
            "redirected_statement", last.start, redirects[-1].end, last.field, True, False, [last, *redirects]
        )
        children = [moved if child is last else child for child in body.children]
        return self.statement(msgspec.structs.replace(body, children=children), scope, variables)

    def _enclosed(
        self, body: Node, redirects: Sequence[Node], scope: Scope, variables: Variables
    ) -> tuple[int, ...]:
        ids = self._redirect_only(redirects, scope, variables)
        raw = self.listing.commands[ids[0] - 1]
        note_writes(self.listing, raw, block=True)
        inner = msgspec.structs.replace(scope, enclosing=(*scope.enclosing, *raw.redirects))
        if raw.stdin.given:
            inner = msgspec.structs.replace(inner, stdin=raw.stdin.shared())
        if raw.words:  # `x=1 >f program`: the assignment is the program's alone
            return ids + self.statement(body, inner, variables.copy())
        return self.statement(body, inner, variables)

    def _redirect_only(
        self, redirects: Sequence[Node], scope: Scope, variables: Variables
    ) -> tuple[int, ...]:
        found = read_redirects(self.listing, self.program, redirects, variables)
        if found.extra:  # `<in program`: the rest of a redirection is the command
            return calls.words(self.listing, self.program, found, scope, variables)
        number = self.listing.add(
            Raw(
                self.listing.next_id,
                (),
                scope,
                variables.places,
                stdin=found.stdin or scope.stdin,
                kind=Kind.SHELL_REDIRECT,
                redirects=tuple(found.redirects),
                wrappers=scope.wrappers,
            )
        )
        inner = msgspec.structs.replace(scope, parent=number)
        self.listing.codes(self.program, tuple(found.codes), inner, variables)
        return (number,)

    def _test(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        text = self.program.text[node.start : node.end]
        if _TEST_EVALUATES.search(text):
            self.listing.evaluates = True
            self._sleeping(node, scope)
        if node.children and node.children[0].kind == "[":
            return calls.bracket(self.listing, self.program, node, scope, variables)
        self._scan(node, scope, variables, Style.LOOSE)
        return ()

    def _if(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        ids: tuple[int, ...] = ()
        before = variables.copy()
        maybe = scope.within(Reach.CONDITIONAL)
        state = "if"
        branch = variables
        for index, child in enumerate(node.children):
            if child.kind == "then":
                state = "then"
                branch = variables.copy()
            elif child.kind in ("elif_clause", "else_clause"):
                ids += self.block(child.children, maybe, before.copy())
            elif child.named and child.kind != "comment":
                if index + 1 < len(node.children) and node.children[index + 1].kind == "&":
                    ids += self.statement(child, maybe.within(Reach.BACKGROUND), branch.copy())
                else:
                    ids += self.statement(child, scope if state == "if" else maybe, branch)
        self._after_branches(node, before, variables)
        return ids

    def _after_branches(self, node: Node, before: Variables, variables: Variables) -> None:
        """Names assigned in a branch are volatile already; only the directory is left to doubt."""
        variables.meet(before)
        if _MOVES.search(self.program.text, node.start, node.end):
            variables.places = ()

    def _loop(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        ids: tuple[int, ...] = ()
        moves = _MOVES.search(self.program.text, node.start, node.end) is not None or any(
            _MOVES.search(function.program.text, function.body.start, function.body.end)
            for function in self.listing.functions.values()
        )
        body = variables.copy()
        if moves:
            body.places = ()
        maybe = scope.within(Reach.CONDITIONAL)
        found = rounds(self.listing, self.program, node, variables)
        given: tuple[int, ...] = ()  # what prints the words that are gone through, if that is all of them
        words = [child.kind for child in node.children if child.field == "value"]
        whole = set(words) == {"command_substitution"} and not moves
        for index, child in enumerate(node.children):
            if child.kind in ("do_group", "compound_statement"):
                for known in found or ({},):
                    inner = body.copy()
                    inner.values |= known or ({self._looped(node): Value()} if given else {})
                    for name in known or {self._looped(node)} if given else ():
                        value = inner.values[name]
                        inner.values[name] = msgspec.structs.replace(value, sources=value.sources + given)
                    ids += self.block(child.children, maybe, inner)
            elif node.kind == "while_statement" and child.named and child.kind != "comment":
                if index + 1 < len(node.children) and node.children[index + 1].kind == "&":
                    ids += self.statement(child, scope.within(Reach.BACKGROUND), body.copy())
                else:
                    ids += self.statement(child, scope, body)
            elif child.named and child.kind != "comment":
                style = Style.LOOSE if node.kind == "for_statement" else Style.ARITHMETIC
                printed = self._scan(child, scope, variables, style)
                given += printed if child.field == "value" and whole else ()
                if style is Style.LOOSE:
                    self._sleeping(child, scope)
        if node.kind == "c_style_for_statement":
            self.listing.evaluates = True
        if moves:
            variables.places = ()
        return ids

    def _looped(self, node: Node) -> str:
        """The name of the variable that a `for` sets."""
        name = next((child for child in node.children if child.field == "variable"), None)
        return self.program.text[name.start : name.end] if name else ""

    def _case(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        ids: tuple[int, ...] = ()
        before = variables.copy()
        maybe = scope.within(Reach.CONDITIONAL)
        for child in node.children:
            if child.kind != "case_item":
                if child.named and child.kind != "comment":
                    self._scan(child, scope, variables, Style.LOOSE)
                continue
            opened = next((i for i, part in enumerate(child.children) if part.kind == ")"), 0)
            for part in child.children[:opened]:
                if part.named:
                    self._scan(part, maybe, variables, Style.LOOSE)
            ids += self.block(child.children[opened:], maybe, before.copy())
        self._after_branches(node, before, variables)
        return ids

    def _function(self, node: Node, scope: Scope, variables: Variables) -> tuple[int, ...]:
        name = next((child for child in node.children if child.field == "name"), None)
        body = next((child for child in node.children if child.field == "body"), None)
        if name is None or body is None:
            self.listing.note(Issue.PARSER_SILENCE)
            return self._salvage(node, scope, variables)
        redirects = [child for child in node.children if child.kind in _REDIRECTS]
        if redirects:
            body = Node("redirected_statement", body.start, node.end, "body", True, False, [body, *redirects])
        deferred = msgspec.structs.replace(scope.within(Reach.DEFERRED), pipeline=0, stdin=SOME_INPUT)
        self.listing.define(
            self.program.text[name.start : name.end], Function(self.program, body, deferred, variables.bare())
        )
        return ()


def _chain(node: Node) -> list[tuple[str, Node]]:
    """A left-leaning list of `&&` and `||` as (operator before it, statement)."""
    parts: list[tuple[str, Node]] = []
    current = node
    while current.kind == "list":
        named = [child for child in current.children if child.named and child.kind != "comment"]
        operator = next((child.kind for child in current.children if child.kind in ("&&", "||")), "&&")
        if len(named) != 2:
            return [*[("&&", child) for child in named], *reversed(parts)]
        parts.append((operator, named[1]))
        current = named[0]
    return [("", current), *reversed(parts)]
