"""What the guard answers: one verdict, and the findings it stands on."""

from __future__ import annotations

import enum

import msgspec


class Action(enum.StrEnum):
    """``deny`` > ``ask`` > ``allow``; there is no way to spell "allow whatever others say"."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class Severity(enum.StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Route(enum.StrEnum):
    """How a finding was proven: from facts, or from a pattern bound to a fact."""

    SEMANTIC = "semantic"
    FALLBACK = "fallback"


class Disposition(enum.StrEnum):
    """Whether a finding may block, or may only be told."""

    DETECT = "detect"
    ENFORCEABLE = "enforceable"


class Finding(msgspec.Struct, frozen=True, omit_defaults=True):
    """One danger seen in one call.

    ``command_id`` is the segment (0 = the call as a whole), ``target`` what it acts on: a path, a
    host, a ref; never file content. A finding of a text says where instead: ``surface`` names the
    text (``prompt``, ``result.stdout``), ``start`` and ``end`` are bytes of its UTF-8.
    """

    rule: str
    group: str
    severity: Severity
    reason: str
    command_id: int = 0
    target: str = ""
    route: Route = Route.SEMANTIC
    disposition: Disposition = Disposition.ENFORCEABLE
    surface: str = ""
    start: int = 0
    end: int = 0


class Verdict(msgspec.Struct, frozen=True, omit_defaults=True):
    """The answer to one proposal. A pass names no rule; a refusal or a question names exactly one.

    ``notes`` say what kind of call it is where the profile lets that kind pass (it speaks to the network,
    it installs a package): they are recorded with the findings, and nothing is wrong by them.
    ``code`` is what the person types to let this very call pass once: for their eyes, never the model's.
    """

    action: Action
    rule: str | None = None
    reason: str = ""
    participant: str | None = None
    findings: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()
    code: str = ""


PASS = Verdict(action=Action.ALLOW)
