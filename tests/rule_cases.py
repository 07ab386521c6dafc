"""Packs made by hand, for the tests of rules."""

from __future__ import annotations

from typing import Any

import msgspec

from latchd.guard.rule import Rule
from latchd.guard.subject import Subject
from latchd.offline import subject_of
from latchd.policy import Policy
from latchd.rules.bundled import ENGINE
from latchd.rules.compiling import Entry, entries
from latchd.rules.pack import PackFile, parse

RULE: dict[str, Any] = {
    "id": "mine.deploy",
    "title": "a deployment is begun",
    "severity": "critical",
    "confidence": 0.9,
    "pattern": "^deploytool",
    "tags": ["deployment"],
    "message": "this deploys",
    "instead": "let the person do it",
}


def pack(*rules: dict[str, Any], path: str = "mine.yaml", category: str = "mine") -> PackFile:
    """A pack of rules, each a rule that is whole with these fields over it. JSON is YAML too."""
    whole = {"version": 1, "category": category, "rules": [RULE | rule for rule in rules]}
    return parse(msgspec.json.encode(whole), path)


def entries_of(*rules: dict[str, Any]) -> list[Entry]:
    return list(entries([pack(*rules)], ENGINE))


def rule(**fields: Any) -> Rule:
    return entries_of(fields)[0].rule


def given(command: str, **fields: Any) -> Subject:
    return subject_of({"command": command, **fields}, Policy())
