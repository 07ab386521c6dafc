"""What a peer or a payload can get wrong on the wire, one class per thing the reader can do about it."""

from __future__ import annotations


class ContractError(Exception):
    """Base of this package's errors; never raised itself."""


class BadFrame(ContractError):
    """The peer's bytes can't be a frame. Close the connection: there is no way to resynchronise."""


class BadMessage(ContractError):
    """The frame was whole but held no message of this protocol. Close the connection."""


class WrongVersion(ContractError):
    """The message speaks another protocol version. Answer so that the person upgrades one side."""


class BadPayload(ContractError):
    """The hook's own JSON can't be used. Deny a pre event, stay silent on the others; nothing is stored.

    ``field`` names the offending member (or ``payload`` for the document itself), so that the
    reason an agent reads can point at it.
    """

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"`{field}` {why}")
        self.field = field
        self.why = why


class UnknownEvent(ContractError):
    """The agent raised an event its contract does not list. Judge conservatively, change no state."""
