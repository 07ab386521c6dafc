"""What a scan found, as values, and the two plain ways to print it: lines for a person, and JSON."""

from __future__ import annotations

import enum
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

import msgspec

from latch_client.paint import Paint, Style, printable
from latch_contracts.verdict import Action, Severity

SEVERITIES: Final = (Severity.LOW, Severity.MEDIUM, Severity.HIGH, Severity.CRITICAL)
_ACTIONS: Final = (Action.ALLOW, Action.ASK, Action.DENY)


class FailOn(enum.StrEnum):
    """From which finding on a scan fails: an action of the policy's, or a severity whatever the action."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"
    ASK = "ask"
    DENY = "deny"
    NEVER = "never"


class Hit(msgspec.Struct, frozen=True):
    """One finding at one line. ``text`` is that line's, for its fingerprint alone."""

    path: str
    line: int
    rule: str
    group: str
    severity: Severity
    action: Action
    message: str
    text: str = ""

    @property
    def fingerprint(self) -> str:
        """The same while rule, file and line stay what they are, wherever in the file the line stands."""
        source = "\0".join((self.rule, self.path, " ".join(self.text.split())))
        return hashlib.sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:32]


class Unread(msgspec.Struct, frozen=True):
    """A file that could not be looked into, and why."""

    path: str
    why: str


class Report(msgspec.Struct, frozen=True):
    hits: tuple[Hit, ...]
    unread: tuple[Unread, ...]
    files: int
    snippets: int
    profile: str


def fails(hit: Hit, limit: FailOn) -> bool:
    """Whether this finding alone makes the scan fail."""
    if limit is FailOn.NEVER:
        return False
    if limit in (FailOn.ASK, FailOn.DENY):
        return _ACTIONS.index(hit.action) >= _ACTIONS.index(Action(limit.value))
    return SEVERITIES.index(hit.severity) >= SEVERITIES.index(Severity(limit.value))


def shown(report: Report, limit: FailOn, *, everything: bool) -> Report:
    """The report without what the policy lets pass, unless it makes the scan fail."""
    hits = tuple(
        hit for hit in report.hits if everything or hit.action is not Action.ALLOW or fails(hit, limit)
    )
    return msgspec.structs.replace(report, hits=hits)


_STYLES: Final = {Action.DENY: Style.BAD, Action.ASK: Style.WARN, Action.ALLOW: Style.DIM}


def lines(report: Report, paint: Paint) -> Iterator[str]:
    """`path:line: severity rule message`, then what could not be read, then the sum."""
    for hit in report.hits:
        where = printable(f"{hit.path}:{hit.line}:")
        action = paint(f"{hit.severity.value} {hit.rule}", _STYLES[hit.action])
        yield f"{where} {action} {hit.action.value}: {printable(_without_rule(hit))}"
    for unread in report.unread:
        yield printable(f"{unread.path}: not read: {unread.why}")
    counts = {action: sum(hit.action is action for hit in report.hits) for action in _ACTIONS}
    yield (
        f"{_count(report.files, 'file')}, {_count(report.snippets, 'script')}: {counts[Action.DENY]} denied, "
        f"{counts[Action.ASK]} asked about, {len(report.unread)} not read ({report.profile})"
    )


def members(report: Report) -> dict[str, Any]:
    """The report for `--format json`."""
    return {
        "profile": report.profile,
        "files": report.files,
        "scripts": report.snippets,
        "findings": [
            {
                "path": hit.path,
                "line": hit.line,
                "rule": hit.rule,
                "group": hit.group,
                "severity": hit.severity.value,
                "action": hit.action.value,
                "message": _without_rule(hit),
                "fingerprint": hit.fingerprint,
            }
            for hit in report.hits
        ],
        "unread": [{"path": unread.path, "why": unread.why} for unread in report.unread],
    }


def worst(hits: Sequence[Hit], limit: FailOn) -> bool:
    return any(fails(hit, limit) for hit in hits)


def _without_rule(hit: Hit) -> str:
    """A reason begins with its rule, which stands there already."""
    return hit.message.removeprefix(f"[{hit.rule}]").lstrip(": ")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
