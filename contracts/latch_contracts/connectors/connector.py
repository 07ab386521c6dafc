"""What every connector is: a contract, and pure functions between its dialect and our words.

A connector never does I/O and keeps nothing: bytes and values in, values and bytes out.
"""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from latch_contracts.contract import Contract, Event
from latch_contracts.events import HookEvent
from latch_contracts.verdict import Verdict


class Rendered(msgspec.Struct, frozen=True):
    """What the shim does with one answer, in the agent's own dialect."""

    exit_code: int
    stdout: bytes
    stderr: bytes


SILENCE = Rendered(exit_code=0, stdout=b"", stderr=b"")


class Connector(msgspec.Struct, frozen=True):
    """One agent.

    ``read(payload, event_hint)`` gives the event, or raises BadPayload or UnknownEvent; the hint is
    the event name of the hook line, "" where the agent puts it in the payload alone.
    ``guess_event(payload, event_hint)`` says what an event that could not be read must be treated
    as; None means: as a proposal. It never raises.
    ``render(event, verdict, agent_version)`` says the verdict so that the agent obeys it; the event
    None is that proposal of unknown name.
    ``silence()`` is the answer that leaves the agent to itself.
    """

    contract: Contract
    read: Callable[[bytes, str], HookEvent]
    guess_event: Callable[[bytes, str], Event | None]
    render: Callable[[Event | None, Verdict, str], Rendered]
    silence: Callable[[], Rendered]
