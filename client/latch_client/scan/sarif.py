"""A report as SARIF 2.1.0, the form in which code hosts take findings and show them beside the lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import quote

from latch_client.scan.report import Hit, Report
from latch_contracts.verdict import Action, Severity

SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final[Mapping[Action, str]] = {Action.DENY: "error", Action.ASK: "warning", Action.ALLOW: "note"}
# What GitHub reads as CVSS-like scores: over 9 critical, over 7 high, over 4 medium.
_SCORES: Final[Mapping[Severity, str]] = {
    Severity.LOW: "2.0",
    Severity.MEDIUM: "5.5",
    Severity.HIGH: "8.0",
    Severity.CRITICAL: "9.5",
}


def document(
    report: Report, titles: Mapping[str, str], groups: Mapping[str, str], version: str
) -> dict[str, Any]:
    """The whole log. ``titles`` by rule id and ``groups`` by group say what each is about."""
    rules = sorted({hit.rule for hit in report.hits})
    told = {hit.rule: hit for hit in reversed(report.hits)}
    seen: dict[str, int] = {}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "latchd",
                        "semanticVersion": version,
                        "rules": [_rule(rule, told[rule], titles, groups) for rule in rules],
                    }
                },
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {"SRCROOT": {"description": {"text": "where latchctl scan was run"}}},
                "invocations": [
                    {
                        "executionSuccessful": True,
                        "toolExecutionNotifications": [
                            {
                                "level": "warning",
                                "message": {"text": f"not read: {unread.why}"},
                                "locations": [{"physicalLocation": {"artifactLocation": _at(unread.path)}}],
                            }
                            for unread in report.unread
                        ],
                    }
                ],
                "results": [_result(hit, rules.index(hit.rule), seen) for hit in report.hits],
            }
        ],
    }


def _rule(rule: str, hit: Hit, titles: Mapping[str, str], groups: Mapping[str, str]) -> dict[str, Any]:
    about = groups.get(hit.group, hit.group)
    title = titles.get(rule) or about
    way_out = f"`latchctl explain 'COMMAND'` shows why a command is judged so; docs/rules.md lists {rule}."
    return {
        "id": rule,
        "name": "".join(part.capitalize() for part in rule.replace(".", "-").split("-")),
        "shortDescription": {"text": title},
        "fullDescription": {"text": f"{title} (group {hit.group}: {about})"},
        "help": {"text": f"{title}. {way_out}", "markdown": f"**{title}**\n\n{way_out}"},
        "defaultConfiguration": {"level": _LEVELS[hit.action]},
        "properties": {"security-severity": _SCORES[hit.severity], "tags": ["security", hit.group]},
    }


def _result(hit: Hit, index: int, seen: dict[str, int]) -> dict[str, Any]:
    """Equal lines of one file have equal fingerprints; their count tells them apart."""
    number = seen[hit.fingerprint] = seen.get(hit.fingerprint, 0) + 1
    return {
        "ruleId": hit.rule,
        "ruleIndex": index,
        "level": _LEVELS[hit.action],
        "message": {"text": hit.message},
        "locations": [
            {"physicalLocation": {"artifactLocation": _at(hit.path), "region": {"startLine": hit.line}}}
        ],
        "partialFingerprints": {"latchdLine/v1": f"{hit.fingerprint}:{number}"},
        "properties": {"action": hit.action.value, "severity": hit.severity.value},
    }


def _at(path: str) -> dict[str, str]:
    uri = quote(path, errors="surrogateescape")
    return {"uri": f"file://{uri}"} if path.startswith("/") else {"uri": uri, "uriBaseId": "SRCROOT"}
