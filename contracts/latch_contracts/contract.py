"""The contract of one connector: what its hooks send, what proves an outcome, what it obeys.

A contract is data. Holds (what is not yet trusted) are missing entries, never ifs elsewhere.
:func:`faults` is the self-check that every contract passes at import of its table.
"""

from __future__ import annotations

import enum
from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec


class Level(enum.StrEnum):
    PAIRED = "paired-outcomes"  # an exact result can promote a proposal
    DETECTION = "detection-only"  # results are seen, nothing is promoted
    DIRECT = "direct-only"  # only the proposal itself is judged


class Authority(enum.StrEnum):
    PAIRED_ID = "paired-id"  # the agent's own opaque call id, on both ends
    SEQUENCE = "paired-sequence"  # a position: aids detection, never promotes
    NONE = "none"


class Route(enum.StrEnum):
    ACTION = "action"  # a tool-call proposal that may open a row
    DIRECT = "direct"  # judged, answered, never a row
    RESULT = "result"  # says what became of a call
    AUDIT = "audit"  # lifecycle: boundaries and what only gets a record
    TRANSITION = "transition"  # typed proof of a security state change: closed, nothing qualifies


class Kind(enum.StrEnum):
    """What an event means, whatever the agent calls it."""

    PROPOSAL = "proposal"
    PERMISSION = "permission"
    RESULT = "result"
    DENIAL = "denial"
    BATCH = "batch"
    PROMPT = "prompt"
    TURN_END = "turn_end"
    SESSION_START = "session_start"
    SESSION_END = "session_end"
    SUBAGENT_STOP = "subagent_stop"
    CONFIG_CHANGE = "config_change"
    AUDIT = "audit"


class Surface(enum.StrEnum):
    """The closed families of tools. A tool in no family is GENERIC, and a reader if it has a path."""

    SHELL = "shell"
    READ = "read"
    WRITE = "write"
    EDIT = "edit"
    PATCH = "patch"
    SEARCH = "search"
    FETCH = "fetch"
    MCP = "mcp"
    SKILL = "skill"
    DELEGATE = "delegate"
    GENERIC = "generic"


class Event(msgspec.Struct, frozen=True):
    """One hook event. ``blockable``: a refusal is obeyed. ``cutoff``: "", "turn" or "session"."""

    name: str
    route: Route
    kind: Kind
    blockable: bool = False
    cutoff: str = ""


class Tool(msgspec.Struct, frozen=True):
    """One native tool. Roles name the argument keys; ``benign`` keys carry no authority.

    ``launch`` keys, when true, mean the call only starts something: its result proves nothing.
    """

    name: str
    surface: Surface
    command: str = ""
    path: str = ""
    url: str = ""
    benign: frozenset[str] = frozenset()
    launch: frozenset[str] = frozenset()
    always_launch: bool = False


class Versions(msgspec.Struct, frozen=True):
    """``minimum`` inclusive, ``below`` exclusive; dotted numbers."""

    minimum: tuple[int, ...]
    below: tuple[int, ...] | None = None


class Compatibility(enum.StrEnum):
    KNOWN = "known"
    UNVERSIONED = "unversioned"  # no version given: the reviewed default contract applies
    UNKNOWN = "unknown"  # unreadable or out of range: judge, but change no state


class StateTransition(msgspec.Struct, frozen=True):
    """A typed, vendor-documented proof that a security state changed. None is known to exist."""

    event: str
    revision: int


# INVARIANT (closed transition route): the list is versioned and empty for every connector. It may
# only grow when an official contract exposes typed fields that prove the exact state change.
STATE_TRANSITIONS_REVISION: Final = 1
STATE_TRANSITIONS: Final[tuple[StateTransition, ...]] = ()


class Contract(msgspec.Struct, frozen=True):
    connector: str
    contract_id: str
    revision: int
    versions: Versions
    level: Level
    authority: Authority
    events: tuple[Event, ...]
    tools: tuple[Tool, ...]
    session_field: str
    call_id_field: str
    turn_field: str = ""
    agent_field: str = ""
    outcome_authority: bool = False
    native_ask: bool = False
    state_transitions: tuple[StateTransition, ...] = STATE_TRANSITIONS

    def event(self, name: str) -> Event | None:
        """The event of exactly that name; names are case-sensitive, for state and verdict alike."""
        return next((event for event in self.events if event.name == name), None)

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def compatibility(self, version_text: str) -> Compatibility:
        """Judge a raw version text: its first dotted number against the contract's range."""
        if not version_text:
            return Compatibility.UNVERSIONED
        version = parse_version(version_text)
        if version is None or version < self.versions.minimum:
            return Compatibility.UNKNOWN
        if self.versions.below is not None and version >= self.versions.below:
            return Compatibility.UNKNOWN
        return Compatibility.KNOWN

    def fingerprint_source(self) -> bytes:
        """Canonical bytes of the whole contract, for the policy fingerprint that binds a pending."""
        return msgspec.json.encode(self, order="sorted")


def parse_version(text: str) -> tuple[int, ...] | None:
    """The first ``N[.N[.N]]`` in a ``--version`` text, or None."""
    for word in text.replace("(", " ").replace("v", " ").split():
        digits = word.split("-")[0].split("+")[0].split(".")
        if digits[0].isascii() and digits[0].isdigit():
            parts: list[int] = []
            for part in digits[:3]:
                if not (part.isascii() and part.isdigit() and len(part) <= 9):
                    break
                parts.append(int(part))
            return tuple(parts) or None
    return None


_OUTCOME_KINDS: Final = frozenset({Kind.RESULT, Kind.DENIAL})


def faults(contract: Contract) -> Iterator[str]:
    """What is wrong with a contract, in words; nothing for a sound one."""
    names = Counter(event.name for event in contract.events)
    for name, count in names.items():
        if count > 1:
            yield f"event {name} is on {count} routes"
    for event in contract.events:
        if event.kind is Kind.PROPOSAL and event.route not in (Route.ACTION, Route.DIRECT):
            yield f"proposal {event.name} is not on the action or direct route"
        if event.route is Route.ACTION and event.kind is not Kind.PROPOSAL:
            yield f"{event.name} is on the action route and no proposal"
        if event.kind in _OUTCOME_KINDS and event.route is not Route.RESULT:
            yield f"outcome {event.name} is not on the result route"
        if event.cutoff and event.route is not Route.AUDIT:
            yield f"cutoff {event.name} is not on the audit route"
        if event.cutoff not in ("", "turn", "session"):
            yield f"cutoff {event.name} is neither turn nor session"
        if event.route is Route.TRANSITION:
            yield f"{event.name} is on the transition route, which is closed"
        if not contract.outcome_authority and event.kind in _OUTCOME_KINDS:
            yield f"{event.name} claims an outcome that the contract has no authority for"
    if contract.level is Level.PAIRED and not (
        contract.authority is Authority.PAIRED_ID and contract.outcome_authority
    ):
        yield "paired outcomes need a paired id and outcome authority"
    if contract.authority is Authority.PAIRED_ID and not contract.call_id_field:
        yield "a paired id needs the field that carries it"
    if contract.state_transitions:
        yield "the state-transition list must be empty"
    for tool, count in Counter(tool.name for tool in contract.tools).items():
        if count > 1:
            yield f"tool {tool} is listed {count} times"
