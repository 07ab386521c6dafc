"""One voice: of an owner and those it speaks for, never expression and pattern both in one decision.

And a pattern alone never counts where nothing that runs is bound to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from latch_contracts.facts import Issue, Status
from latch_contracts.verdict import Route
from latchd.guard.rule import Rule
from latchd.guard.subject import Subject
from latchd.guard.work import MAX_STEPS, Work
from latchd.offline import subject_of
from latchd.policy import Policy
from latchd.rules.bundled import compiled
from rule_cases import entries_of

DEPLOYS = 'f.commands.exists(c, c.acts && c.program == "deploytool" && "prod" in c.words)'
KNOWN = "!f.commands.exists(c, !c.argv_complete)"
PACK_RULES = tuple(entry for entry in compiled() if entry.declared is not None)
EXAMPLES = tuple(
    (entry.rule, command) for entry in PACK_RULES for command in (*entry.rule.denies, *entry.rule.passes)
)


def owned(*, safe: bool, first: bool) -> Sequence[Rule]:
    """An owner and two others that it speaks for, the owner first or last."""
    owner: dict[str, Any] = {"expression": DEPLOYS, "pattern": "^deploytool"}
    if safe:
        owner["safe_negative"] = KNOWN
    aliases = [
        {"id": f"mine.{name}", "owner": "mine.deploy", "pattern": "deploytool"} for name in ("one", "two")
    ]
    return [entry.rule for entry in entries_of(*([owner, *aliases] if first else [*aliases, owner]))]


def routes(rules: Sequence[Rule], subject: Subject) -> set[Route]:
    return {finding.route for rule in rules for finding in rule.findings(subject)}


@given(
    commands=st.lists(
        st.sampled_from(
            ["deploytool prod", "deploytool test", "deploytool $X", "deploytool --help prod", "ls", "(", "fi"]
        ),
        min_size=1,
        max_size=4,
    ),
    joint=st.sampled_from(["; ", " && ", " | ", "\n", " & "]),
    left=st.integers(0, 120),
    status=st.sampled_from([None, Status.PARTIAL, Status.AMBIGUOUS]),
    safe=st.booleans(),
    first=st.booleans(),
)
@settings(max_examples=300, deadline=None)
def test_never_expression_and_pattern_both_for_one_owner(
    commands: list[str], joint: str, left: int, status: Status | None, safe: bool, first: bool
) -> None:
    """Whatever the facts are, and wherever in the decision the budget is spent."""
    subject = subject_of({"command": joint.join(commands)}, Policy())
    if status is not None:
        facts = msgspec.structs.replace(subject.facts, status=status, issues=(Issue.DYNAMIC_WORD,))
        subject = msgspec.structs.replace(subject, facts=facts)
    work = Work()
    work.steps = MAX_STEPS - left
    subject = msgspec.structs.replace(subject, work=work)

    assert len(routes(owned(safe=safe, first=first), subject)) <= 1


def test_a_budget_that_ends_between_an_owner_and_its_alias_wakes_no_pattern() -> None:
    found: set[tuple[str, ...]] = set()
    for left in range(200):
        work = Work()
        work.steps = MAX_STEPS - left
        subject = msgspec.structs.replace(subject_of({"command": "deploytool prod"}, Policy()), work=work)
        found.add(tuple(sorted(route.value for route in routes(owned(safe=False, first=True), subject))))

    assert found == {("fallback",), ("semantic",)}


@pytest.mark.parametrize("entry", PACK_RULES, ids=lambda entry: entry.rule.id)
def test_no_rule_of_a_pack_speaks_with_both_voices_about_its_examples(entry: Any) -> None:
    for command in (*entry.rule.denies, *entry.rule.passes):
        for text in (command, f"{command}; ls $X", f"if true; then {command}; fi; done"):
            assert len(routes([entry.rule], subject_of({"command": text}, Policy()))) <= 1, text


# Ways to have a text in a call and not to run it.
CARRIED = {
    "echo": "echo {quoted}",
    "printf": "printf '%s\\n' {quoted} > notes.txt",
    "grep": "grep -rn -- {quoted} src",
    "comment": "ls # {line}",
    "message": "git commit -m {quoted}",
    "document": "cat > notes.txt <<'END-OF-IT'\n{text}\nEND-OF-IT\n",
    "variable": "X={quoted}; ls",
    "argument": "mytool --note {quoted}",
}


def carried(way: str, command: str) -> str:
    quoted = "'" + command.replace("'", "'\\''") + "'"
    return CARRIED[way].format(quoted=quoted, line=command.replace("\n", " "), text=command)


@pytest.mark.parametrize("way", CARRIED)
def test_text_that_is_carried_counts_for_no_rule_of_a_pack_whole_facts_or_not(way: str) -> None:
    wrong: list[tuple[str, str]] = []
    for rule, command in EXAMPLES:
        subject = subject_of({"command": carried(way, command)}, Policy())
        facts = msgspec.structs.replace(subject.facts, status=Status.PARTIAL)
        lost = msgspec.structs.replace(subject, facts=facts, work=Work())
        wrong += [(rule.id, command) for one in (subject, lost) if rule.findings(one)]

    assert wrong == []
