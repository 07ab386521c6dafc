"""Redirections as targets, contacts and operations of their command."""

from __future__ import annotations

import re
from collections.abc import Sequence

from latch_contracts.facts import Access, Argument, NetAction, Operation, Redirect
from latchd.shell.grammar import Contact, Target

_SOCKET = re.compile(r"/dev/(?:tcp|udp)/([^/]+)/([^/]+)\Z")
_OPERATIONS = {
    Access.READ: Operation.READ,
    Access.WRITE: Operation.WRITE,
    Access.APPEND: Operation.APPEND,
}


def redirect_target(redirect: Redirect) -> Target | None:
    """The file of a redirection; None for a descriptor copy or a socket."""
    if not redirect.target or _SOCKET.match(redirect.target):
        return None
    return Target(redirect.access, Argument(redirect.target, expands=redirect.expands))


def redirect_contact(redirect: Redirect) -> Contact | None:
    """The peer of a redirection to /dev/tcp or /dev/udp."""
    match = _SOCKET.match(redirect.target)
    if match is None:
        return None
    return Contact(
        NetAction.CONNECT, Argument(f"{match.group(1)}:{match.group(2)}", expands=redirect.expands)
    )


def redirect_operations(redirects: Sequence[Redirect]) -> list[Operation]:
    """The operations that redirections add; /dev/null adds none."""
    found: list[Operation] = []
    for redirect in redirects:
        if _SOCKET.match(redirect.target):
            found.append(Operation.CONNECT)
        elif redirect.target and redirect.target != "/dev/null":
            found.append(_OPERATIONS[redirect.access])
    return found
