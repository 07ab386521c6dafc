"""One event as it came: whose it is, of which version of the agent, and when. A value."""

from __future__ import annotations

from typing import Any

import msgspec

from latch_contracts.contract import Compatibility, Contract, Level, Route
from latch_contracts.events import HookEvent
from latchd.recording import Identity, common
from latchd.windows import Instant


class Arrival(msgspec.Struct, frozen=True):
    """``own`` is what the project adds to policy and rules now, where the call was proposed."""

    contract: Contract
    event: HookEvent
    identity: Identity
    version: str
    now: Instant
    own: bytes = b""

    @property
    def compatibility(self) -> Compatibility:
        return self.contract.compatibility(self.version)

    @property
    def pairable(self) -> bool:
        """Whether contract, version and call id all allow that a result is joined to this proposal."""
        return (
            self.event.event.route is Route.ACTION
            and self.contract.level is Level.PAIRED
            and self.compatibility is not Compatibility.UNKNOWN
            and bool(self.event.the_call.id)
        )

    def common(self, redaction: str) -> dict[str, Any]:
        """The fields that each of its records carries."""
        return common(self.event, self.identity, redaction, self.now.wall_ms)
