"""What was found of the shell inside another language's code. Values only; nothing here reads code."""

from __future__ import annotations

from typing import Final

import msgspec


class Fed(msgspec.Struct, frozen=True):
    """Shell code whose stdin the program around it writes: ``text`` is that, if it is one literal."""

    code: str
    text: str | None = None


class Embedded(msgspec.Struct, frozen=True):
    """Shell code found (bytes view, holes marked), and whether some of it could not be read."""

    codes: tuple[str, ...] = ()
    opaque: bool = False
    fed: tuple[Fed, ...] = ()


NONE: Final = Embedded()


def together(*parts: Embedded) -> Embedded:
    """All of it as one."""
    return Embedded(
        tuple(code for part in parts for code in part.codes),
        any(part.opaque for part in parts),
        tuple(fed for part in parts for fed in part.fed),
    )
