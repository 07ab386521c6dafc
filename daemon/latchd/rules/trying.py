"""Rules that are about to be put in force, tried on their own examples: bounded work in small steps.

INVARIANT (a pack means what its examples say): rules that a pack's own examples contradict, or whose way out
is refused, are not put in force. Bounded by the number and the length of what is judged, never by time, so
the same pack is taken or refused on every machine.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latchd.rules.compiling import Entry
from latchd.rules.generation import Generation
from latchd.rules.lint import Check, Fault, Weight, checks, unshown


class Most(msgspec.Struct, frozen=True):
    """How much is tried: commands judged, and bytes of them in all. About 1 ms each where they are short."""

    commands: int
    bytes: int


OWN: Final = Most(commands=1024, bytes=128 * 1024)  # of the person's packs, at a start or a reload
PROJECTS: Final = Most(commands=128, bytes=16 * 1024)  # of a project's, while a call waits for its answer


class Plan(msgspec.Struct, frozen=True):
    """What is to be asked of rules, in order, and what a look at them tells: no reason to refuse them."""

    checks: tuple[Check, ...]
    doubts: tuple[Fault, ...]


def planned(rules: Generation, own: Sequence[Entry], most: Most) -> Plan:
    """The checks of these rules of a generation, within the bound; what is over it is told as a doubt."""
    found: list[Check] = []
    doubts: list[Fault] = []
    left, untried = most.bytes, 0
    for entry in own:
        doubts += unshown(entry)
        for check in checks(rules, entry):
            size = len(check.command.encode("utf-8", "surrogatepass"))
            if len(found) == most.commands or size > left:
                untried += 1
                continue
            left -= size
            found.append(check)
    if untried:
        why = f"{untried} examples are more than is tried here; `latchctl rules validate` tries them all"
        doubts.append(Fault(posixpath.dirname(own[0].source) or own[0].source, 0, "", why, Weight.TOLD))
    return Plan(tuple(found), tuple(doubts))


def refusals(plan: Plan) -> Iterator[Fault | None]:
    """The faults for which rules may not be put in force: one item for each step of work, mostly None."""
    for check in plan.checks:
        yield check.asked()


def refusal(plan: Plan) -> Fault | None:
    """The first of them, with all the work at once."""
    return next((fault for fault in refusals(plan) if fault is not None), None)


def doubted(plan: Plan) -> str:
    """The doubts in one line, the first of them whole; "" without any."""
    if not plan.doubts:
        return ""
    more = len(plan.doubts) - 1
    return f"{plan.doubts[0]}" + (f"; and {more} more, see `latchctl rules validate`" if more else "")
