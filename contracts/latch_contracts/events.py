"""One hook event, in words that no agent owns: what every connector reads its payloads into."""

from __future__ import annotations

from typing import Any

import msgspec

from latch_contracts.contract import Event, Surface
from latch_contracts.outcome import Outcome


class Call(msgspec.Struct, frozen=True):
    """The tool call an event speaks of.

    ``id`` is the agent's own, "" when it gave none that can be used to join (``id_fault`` says why).
    ``arguments`` are the tool's own, whole. ``command`` and ``path`` are lifted by the contract's
    roles. ``input_digest`` is SHA-256 over the canonical tool name and arguments: two payloads that
    differ in key order, blanks or escapes alone have the same one.
    """

    id: str
    tool: str
    surface: Surface
    arguments: dict[str, Any]
    input_digest: bytes
    id_fault: str = ""
    command: str | None = None
    paths: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    unknown_keys: tuple[str, ...] = ()
    mcp_server: str = ""
    mcp_tool: str = ""


class Text(msgspec.Struct, frozen=True):
    """A text that an event carries, to be looked through and never kept. ``surface`` says which it is."""

    surface: str
    text: str


class HookEvent(msgspec.Struct, frozen=True):
    """``agent`` is "" for the main agent. ``cwd`` is "" when the payload gave no absolute one.

    ``outcome`` is set on results alone; ``batch`` lists the call ids that a batch closes;
    ``fingerprint`` is SHA-256 over the canonical contract-declared fields of the event, so that a
    re-serialised redelivery is recognised as the same event. ``texts`` are what people, programs and
    files said in it: the prompt, the result, what was written.
    """

    connector: str
    event: Event
    session: str
    agent: str
    turn: str
    cwd: str
    fingerprint: bytes
    call: Call | None = None
    outcome: Outcome | None = None
    outcome_why: str = ""
    batch: tuple[str, ...] = ()
    config_source: str = ""
    config_path: str = ""
    note: str = ""
    texts: tuple[Text, ...] = ()

    @property
    def the_call(self) -> Call:
        """The call of a proposal or a result: events of those kinds are never read without one."""
        if self.call is None:
            raise ValueError(f"`{self.event.name}` speaks of no call")
        return self.call
