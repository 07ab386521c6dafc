"""Who speaks for a pack's rule on one call: its expression or its pattern, never both.

INVARIANT (one voice): complete facts and an answer from the expression silence the pattern, whether the
answer is yes or no. Incomplete facts, an error or a spent budget leave the rule to its pattern. An expression
is asked once in a decision, so all rules that it speaks for go by one answer. Full facts decide whether
something is found, what acts decides whether the finding may refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from latch_contracts.facts import Command, Effect
from latch_contracts.verdict import Disposition, Route
from latchd.guard.needs import Needs
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.guard.targets import shown
from latchd.rules import patterns
from latchd.rules.engine import BudgetSpent, Program, RuleError, View
from latchd.rules.fallback import bound, words
from latchd.rules.pack import PackRule, group_of
from latchd.rules.view import Answer, Views, views


class Voice(msgspec.Struct, frozen=True):
    """The expression that speaks for a rule, its own or its owner's."""

    program: Program
    safe_negative: Program | None
    is_own: bool


def rule_of(declared: PackRule, voice: Voice | None) -> Rule:
    """A pack's rule as the guard's walk asks it."""
    return Rule(
        id=declared.id,
        title=declared.title,
        group=group_of(declared),
        severity=declared.severity,
        check=_check(declared, voice),
        denies=declared.denies,
        passes=declared.passes,
        route=Route.FALLBACK if voice is None or not voice.is_own else Route.SEMANTIC,
        needs=needs_of(declared),
    )


def needs_of(declared: PackRule) -> Needs | None:
    """The traits without which neither the expression nor the pattern is asked.

    What a grammar proves is no prefilter where the text was not wholly read: there the pattern speaks.
    """
    if declared.details:
        return frozenset(("unread", *(f"detail {detail}" for detail in declared.details)))
    if declared.operations:
        return frozenset(("unread", *(f"operation {operation.value}" for operation in declared.operations)))
    if declared.programs:
        return frozenset(f"program {program}" for program in declared.programs)
    return None


def _check(declared: PackRule, voice: Voice | None) -> Callable[[Subject], Iterator[Hit]]:
    def check(subject: Subject) -> Iterator[Hit]:
        if voice is not None and subject.facts.authoritative:
            try:
                spoken = _spoken(declared, voice, subject)
            except RuleError:
                pass
            else:
                if spoken is not None:
                    yield from spoken
                    return
        for command_id, target in bound(subject, declared, patterns.compiled(declared.pattern)):
            yield Hit(command_id, target, declared.message, declared.instead, Route.FALLBACK)

    return check


def _spoken(declared: PackRule, voice: Voice, subject: Subject) -> list[Hit] | None:
    """What the expression finds; None when its "no" does not silence the pattern."""
    seen = views(subject)
    match _answer(voice, seen, subject):
        case Answer.YES:
            return list(_hits(declared, voice.program, seen, subject)) if voice.is_own else []
        case Answer.NO:
            return []
        case _:
            return None


def _answer(voice: Voice, seen: Views, subject: Subject) -> Answer:
    """What the expression says of this call, asked the first time and remembered. Raises RuleError then."""
    if voice.program not in seen.answers:
        seen.answers[voice.program] = Answer.NONE  # what fails now is not asked again for another rule
        whole = seen.whole()
        if _holds(voice.program, whole, subject):
            answer = Answer.YES
        elif voice.safe_negative is not None and not _holds(voice.safe_negative, whole, subject):
            answer = Answer.NONE
        else:
            answer = Answer.NO
        seen.answers[voice.program] = answer
    return seen.answers[voice.program]


def _hits(declared: PackRule, program: Program, seen: Views, subject: Subject) -> Iterator[Hit]:
    shows = any(command.effect is Effect.PREVIEW for command in subject.facts.commands)
    enforced = not shows or _holds(program, seen.acting(), subject)
    places = [
        (command, target)
        for command in subject.facts.commands
        for target in _places(declared, program, seen, subject, command)
    ]
    acting = False
    for command, target in places:
        acts = enforced and command.effect is not Effect.PREVIEW
        acting = acting or acts
        yield _hit(declared, command.id, target, acts=acts)
    if not places or (enforced and not acting):
        yield _hit(declared, 0, "(the whole call)", acts=enforced)


def _hit(declared: PackRule, command_id: int, target: str, *, acts: bool) -> Hit:
    disposition = Disposition.ENFORCEABLE if acts else Disposition.DETECT
    return Hit(command_id, target, declared.message, declared.instead, Route.SEMANTIC, disposition)


def _places(
    declared: PackRule, program: Program, seen: Views, subject: Subject, command: Command
) -> Iterator[str]:
    """Where in a command the expression holds by itself; nowhere when it speaks of several together."""
    try:
        if not _holds(program, seen.only(frozenset((command.id,))), subject):
            return
        alone = [
            shown(fact)
            for at, fact in enumerate(subject.facts.paths)
            if "path" in declared.binds
            and fact.command_id == command.id
            and _holds(program, seen.only(frozenset((command.id,)), at), subject)
        ]
    except RuleError:  # it holds; where, is a courtesy
        return
    yield from alone or [words(command)]


def _holds(program: Program, view: View, subject: Subject) -> bool:
    """Raises BudgetSpent before an evaluation that could cost more than is left."""
    if not subject.work.spend(program.steps(view.sizes)):
        raise BudgetSpent("the rule would cost more than one decision may spend")
    return program.holds(view)
