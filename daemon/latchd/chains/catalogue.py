"""The six ordered chains: which step must come before which, within what window, and what may block.

A fixed catalogue. A step's bit and a chain's bit are positions that are stored: they are only ever
appended to, and never given to another meaning.
"""

from __future__ import annotations

import enum
from typing import Final

import msgspec

_MINUTE_MS: Final = 60_000


class Step(enum.IntFlag):
    """What one call is, as far as a chain cares. Stored as a mask."""

    GUARDRAILS_OFF = 1 << 0  # a typed change of a security state; no contract proves one
    PERMISSION_DENIED = 1 << 1  # the agent's own typed denial of a call
    RUNTIME_BYPASS = 1 << 2  # an agent started with its permission checks off
    PRIVILEGE_DISCOVERY = 1 << 3  # what could be run with more rights
    PRIVILEGE_ELEVATION = 1 << 4  # a shell with more rights, the host's namespaces or its runtime socket
    SECRET_MANAGER_READ = 1 << 5
    SECRET_READ = 1 << 6  # a credential file, by whatever reader
    IDENTITY_READ = 1 << 7  # a workload's own token
    EGRESS = 1 << 8  # data sent to a peer outside
    LATERAL_EXECUTION = 1 << 9  # a command run in another workload


NOTHING: Final = Step(0)


class Chain(msgspec.Struct, frozen=True):
    """Two steps in order. ``events`` counts the session's chain-relevant events, the second step with it.

    ``blocks``: both steps proven exactly may refuse the second. Where it is false, closeness in time
    proves no flow of data, so the chain only tells. ``dormant``: nothing can make its first step.
    """

    id: str
    bit: int
    title: str
    first: Step
    second: Step
    events: int
    window_ms: int
    blocks: bool = False
    dormant: bool = False


CHAINS: Final = (
    Chain(
        "chain.guardrails-off-then-egress",
        0,
        "the guard is switched off, then data leaves",
        Step.GUARDRAILS_OFF,
        Step.EGRESS,
        events=64,
        window_ms=30 * _MINUTE_MS,
        dormant=True,
    ),
    Chain(
        "chain.permission-denied-then-runtime-bypass",
        1,
        "a call is denied, then an agent is started without its checks",
        Step.PERMISSION_DENIED,
        Step.RUNTIME_BYPASS,
        events=16,
        window_ms=5 * _MINUTE_MS,
        blocks=True,
    ),
    Chain(
        "chain.privilege-discovery-then-elevation",
        2,
        "ways to more rights are looked up, then taken",
        Step.PRIVILEGE_DISCOVERY,
        Step.PRIVILEGE_ELEVATION,
        events=32,
        window_ms=15 * _MINUTE_MS,
        blocks=True,
    ),
    Chain(
        "chain.secret-manager-read-then-egress",
        3,
        "a secret is fetched from its manager, then data leaves",
        Step.SECRET_MANAGER_READ,
        Step.EGRESS,
        events=64,
        window_ms=30 * _MINUTE_MS,
    ),
    Chain(
        "chain.secret-read-then-egress",
        4,
        "a credential is read, then data leaves",
        Step.SECRET_READ,
        Step.EGRESS,
        events=64,
        window_ms=30 * _MINUTE_MS,
    ),
    Chain(
        "chain.workload-identity-then-lateral-execution",
        5,
        "a workload's token is read, then a command is run in another workload",
        Step.IDENTITY_READ,
        Step.LATERAL_EXECUTION,
        events=32,
        window_ms=15 * _MINUTE_MS,
    ),
)

FIRST_STEPS: Final = Step(sum({chain.first for chain in CHAINS}))
SECOND_STEPS: Final = Step(sum({chain.second for chain in CHAINS}))
# Steps whose proof may never enforce: the chains they begin are told, not acted on.
DETECTION_ONLY: Final = Step(
    sum({chain.first for chain in CHAINS if not chain.blocks})
    | sum({chain.second for chain in CHAINS if not chain.blocks})
)
MOST_EVENTS: Final = max(chain.events for chain in CHAINS)
