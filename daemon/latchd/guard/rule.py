"""What a rule is: a value with its own examples. The list of rules is the registry; there is no other."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import msgspec

from latch_contracts.verdict import Disposition, Finding, Route, Severity
from latchd.guard.groups import Group
from latchd.guard.needs import Needs
from latchd.guard.subject import Subject


class Hit(msgspec.Struct, frozen=True):
    """One place where a rule applies.

    ``says`` is what is wrong and ``instead`` the way out, a sentence each: lower case, no stop.
    ``route`` is the rule's own unless this hit came another way; a hit with ``disposition`` detect is
    told and refuses nothing.
    """

    command_id: int
    target: str
    says: str
    instead: str
    route: Route | None = None
    disposition: Disposition = Disposition.ENFORCEABLE


class Rule(msgspec.Struct, frozen=True):
    """One danger.

    ``denies`` are shell commands in which the rule must find something, ``passes`` such in which it
    must not; one test runs them all. ``check`` is pure and yields hits in the order of the segments.
    ``route`` says whether facts prove what it finds, or a pattern over text. ``needs`` are the traits
    without which it can find nothing; None = it is always asked.
    """

    id: str
    title: str
    group: Group
    severity: Severity
    check: Callable[[Subject], Iterator[Hit]]
    denies: tuple[str, ...] = ()
    passes: tuple[str, ...] = ()
    route: Route = Route.SEMANTIC
    needs: Needs | None = None

    def findings(self, subject: Subject) -> tuple[Finding, ...]:
        """What the rule finds, in segment order, each thing once."""
        hits = list(self.check(subject))
        if not hits:  # nearly every rule, on nearly every call
            return ()
        first = {(hit.command_id, hit.target): hit for hit in reversed(hits)}
        return tuple(
            Finding(
                rule=self.id,
                group=self.group,
                severity=self.severity,
                reason=_reason(self.id, subject.segment(hit.command_id), hit),
                command_id=hit.command_id,
                target=hit.target,
                route=hit.route or self.route,
                disposition=hit.disposition,
            )
            for hit in sorted(first.values(), key=lambda hit: (hit.command_id, hits.index(hit)))
        )


def _reason(rule: str, segment: str, hit: Hit) -> str:
    """At most two sentences: rule, segment, what it does to what; then the way out."""
    where = f" in `{segment}`" if segment else ""
    return f"[{rule}]{where}: {hit.says}. {hit.instead[:1].upper()}{hit.instead[1:]}."
