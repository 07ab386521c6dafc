"""Which files hold what came from a secret: what one call changes about that, and what of it it sends out.

From facts alone. A call is told as assignments of its own (this path now holds what those held, or a
secret), and as what it sends to a peer outside. Paths are in clear here and nowhere stored so; what
becomes of the assignments once the call has succeeded is in held.py.
"""

from __future__ import annotations

from collections.abc import Iterator

from latch_contracts.contract import Surface
from latch_contracts.facts import Access, ActionFacts, End, Kind, Operation
from latchd.chains.content import EMPTY, MAX_PATHS, NO_FLOWS, Change, Content, Flows, Source
from latchd.chains.course import Course
from latchd.chains.programs import ENDINGS
from latchd.chains.sources import STREAMS


def flows(facts: ActionFacts) -> Flows:
    """What the call moves between files, and from files to the network."""
    if not facts.commands or not (facts.paths or facts.flows):
        return NO_FLOWS
    exact = facts.enforcement_eligible
    if facts.commands[0].kind is Kind.TOOL:
        return Flows(tuple(_tool_changes(facts))[:MAX_PATHS]) if exact else NO_FLOWS
    changes = Course(facts, sure=True).changes() if exact and _alters(facts) else ()
    sent = Course(facts, sure=False).sent() if _may_send(facts) else frozenset[Source]()
    return Flows(changes, sent, exact and bool(sent)) if changes or sent else NO_FLOWS


def _alters(facts: ActionFacts) -> bool:
    return any(fact.access in (Access.WRITE, Access.APPEND, Access.DELETE) for fact in facts.paths) or any(
        command.program in ENDINGS for command in facts.commands
    )


def _may_send(facts: ActionFacts) -> bool:
    return any(flow.sink is End.NETWORK for flow in facts.flows) or any(
        Operation.UPLOAD in command.operations or command.program in STREAMS for command in facts.commands
    )


def _tool_changes(facts: ActionFacts) -> Iterator[Change]:
    """A whole-file write replaces what was there; an edit leaves it; a patch moves and removes."""
    written: set[str] = set()
    moved = ""
    for fact in facts.paths:
        if not fact.resolved:
            continue
        if facts.tool == Surface.WRITE.value and fact.access is Access.WRITE:
            yield Change(fact.resolved, EMPTY)
        elif facts.tool == Surface.PATCH.value:
            if fact.access is Access.DELETE:
                # A move is told as an update, a removal and a write, in that order.
                moved = fact.resolved if fact.resolved in written else ""
                yield Change(fact.resolved, EMPTY)
            else:
                if moved:
                    yield Change(fact.resolved, Content(sources=frozenset((Source(moved),))))
                moved = ""
                written.add(fact.resolved)
