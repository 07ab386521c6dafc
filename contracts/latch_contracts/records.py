"""What the event socket streams and the database keeps: one struct per kind of record.

A record never holds file content, tool output or an environment value. What it may hold of a
command or a path depends on ``records.redaction`` and has been masked before it comes here.
``seq`` is the database's own sequence: the only order there is.
"""

from __future__ import annotations

import msgspec

from latch_contracts.outcome import Outcome, State
from latch_contracts.verdict import Action, Finding


class _Record(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    seq: int = 0  # 0 until the database gave one
    at_ms: int = 0  # wall clock, Unix milliseconds
    connector: str = ""
    event: str = ""  # the agent's own event name
    session: str = ""  # session id as the agent gave it (redaction none: its digest)
    agent: str = ""  # subagent id, "" for the main agent
    call: str = ""  # call id as the agent gave it, "" when there is none
    session_key: str = ""  # 16 hex of the keyed digests, to join with state tables
    call_key: str = ""


class VerdictRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="verdict"):
    """One proposal was answered. Exactly one of these per answered proposal, allow too."""

    action: Action
    tool: str = ""  # the agent's own tool name
    surface: str = ""  # shell, read, write, edit, mcp, …
    rule: str | None = None
    reason: str = ""
    participant: str | None = None
    findings: tuple[Finding, ...] = ()
    head: str = ""  # masked head of the command, or the path
    status: str = ""  # facts status
    state: State | None = None  # the call's row after this event; None = no row was opened
    probe: bool = False
    note: str = ""  # why no row was opened, or what else a person should know
    latency_us: int = 0
    policy: str = ""  # 16 hex fingerprint of all that a pending call is bound to
    rules: str = ""  # 16 hex fingerprint of the rules that were asked
    code: str = ""  # lets this very call pass once; told to a reader who asks for it, never stored


class DenialRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="denial"):
    """The guard refused this call. A refusal is recognised by this entry only, never by wording."""

    rule: str
    participant: str


class AllowanceRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="allowance"):
    """The person let one refused call pass: once, until ``until_ms``, as far as ``rule`` refuses it.

    ``refused`` is the sequence of the refusal's verdict; tool and head are that one's.
    """

    rule: str
    refused: int
    until_ms: int
    tool: str = ""
    head: str = ""


class OutcomeRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="outcome"):
    """A result arrived for a call. ``step`` is the step's sequence when it was promoted."""

    outcome: Outcome
    tool: str = ""
    before: State | None = None
    after: State | None = None
    step: int | None = None
    why: str = ""  # why nothing was promoted, in words
    alarm: str = ""  # denied-call-executed, rewritten-input, …


class NoticeRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="notice"):
    """What was noticed in the texts of an event: a prompt, a result, what was written. It is only told.

    Each finding says which text and which bytes of it, never what stands there. ``unexamined`` are bytes
    that were too many to look at.
    """

    tool: str = ""
    findings: tuple[Finding, ...] = ()
    examined: int = 0
    unexamined: int = 0


class BoundaryRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="boundary"):
    """A turn, a batch or a session ended, and what it closed: nothing, where it came ``late``."""

    scope: str  # turn, batch, session
    pending_cut: int = 0
    steps_closed: int = 0
    late: bool = False


class ExpiryRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="expiry"):
    """Pending calls outlived their window."""

    expired: int


class LifecycleRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="lifecycle"):
    """An agent event that changes no state: session start, prompt, notification, …"""

    note: str = ""


class ConfigRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="config"):
    """The agent's settings changed; ``refused`` when our hooks would have gone with it."""

    source: str = ""
    path: str = ""
    refused: bool = False
    why: str = ""


class GapRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="gap"):
    """Something is missing here, and this stands for it.

    ``what``: ``subscriber`` (this reader was too slow; seqs from..to were dropped),
    ``unreachable`` (a shim answered without the daemon), ``oversize`` (and its payload was too large
    to send), ``pruned`` (a cursor older than the oldest record), ``faults`` (too many to be told one by one),
    ``unrecorded`` (the store could not take them when they happened), ``unreadable`` (a stored record is
    damaged), ``lost`` (they were stored, and the database was taken away or its log cut short).
    """

    what: str
    from_seq: int = 0
    to_seq: int = 0
    count: int = 0
    detail: str = ""


class FaultRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="fault"):
    """A peer, a payload or a part of ours went wrong; ``code`` is closed, ``detail`` value-free."""

    code: str
    detail: str = ""


class HealthRecord(_Record, frozen=True, kw_only=True, omit_defaults=True, tag="health"):
    """The daemon started, stopped, or its health changed."""

    health: str
    note: str = ""


Record = (
    VerdictRecord
    | DenialRecord
    | AllowanceRecord
    | OutcomeRecord
    | NoticeRecord
    | BoundaryRecord
    | ExpiryRecord
    | LifecycleRecord
    | ConfigRecord
    | GapRecord
    | FaultRecord
    | HealthRecord
)
