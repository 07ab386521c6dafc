"""Rows of the state as values: digests, states, masks, sequences and instants, and nothing else."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from latch_contracts.outcome import State
from latch_contracts.verdict import Action
from latchd.store.errors import StoreError
from latchd.windows import Instant


class CallRow(msgspec.Struct, frozen=True):
    """One call's row. Digests are 32 bytes; ``agent`` is b"" for the main agent."""

    session: bytes
    call: bytes
    agent: bytes
    state: State
    fingerprint: bytes
    input: bytes
    policy: bytes
    action: Action
    rule: str
    operations: int
    opened: Instant
    detection: int = 0
    enforcement: int = 0
    opened_seq: int = 0
    closed_seq: int = 0
    result: bytes = b""
    flows: bytes = b""  # chains.held: what its success does to the files that hold secrets


class ChainRow(msgspec.Struct, frozen=True):
    """One chain-relevant event. ``call`` is b"" when it named none; the masks are chains.catalogue.Step."""

    seq: int
    session: bytes
    call: bytes
    policy: bytes
    detection: int
    enforcement: int
    at: Instant


class SessionRow(msgspec.Struct, frozen=True):
    session: bytes
    connector: str
    turn: bytes
    closed_seq: int
    first_ms: int
    last_ms: int
    last_seq: int
    first_seq: int = 0
    ended: bytes = b""  # fingerprint of its latest boundary, and the sequence of that one's record
    ended_seq: int = 0
    begun: int = 0  # chains.catalogue.Step proven in its open window
    tainting: int = 0  # whether a call that puts a secret into a file was let through in it


CALL_COLUMNS: Final = (
    "session, call, agent, state, fingerprint, input, policy, action, rule, operations, "
    "boot, boot_ns, wall_ms, detection, enforcement, opened_seq, closed_seq, result, flows"
)
CHAIN_COLUMNS: Final = "seq, session, call, policy, detection, enforcement, boot, boot_ns, wall_ms"
SESSION_COLUMNS: Final = (
    "session, connector, turn, closed_seq, first_ms, last_ms, last_seq, first_seq, ended, ended_seq, begun, "
    "tainting"
)


def call_of(row: tuple[Any, ...]) -> CallRow:
    """The call of a row of CALL_COLUMNS. Raises StoreError where its words are none of ours."""
    session, call, agent, state, fingerprint, input_digest, policy, action, rule, operations, *rest = row
    boot, boot_ns, wall_ms, detection, enforcement, opened_seq, closed_seq, result, flows = rest
    try:
        stands, answered = State(state), Action(action)
    except ValueError as error:
        raise StoreError(f"the row of the call opened at {opened_seq} is damaged") from error
    return CallRow(
        session=session,
        call=call,
        agent=agent,
        state=stands,
        fingerprint=fingerprint,
        input=input_digest,
        policy=policy,
        action=answered,
        rule=rule,
        operations=operations,
        opened=Instant(boot, boot_ns, wall_ms),
        detection=detection,
        enforcement=enforcement,
        opened_seq=opened_seq,
        closed_seq=closed_seq,
        result=result,
        flows=flows,
    )
