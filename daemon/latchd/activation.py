"""Listening sockets that the service manager opened for us: LISTEN_PID, LISTEN_FDS, LISTEN_FDNAMES.

The protocol of sd_listen_fds(3), for named Unix stream sockets only. The variables are taken out of
the environment, so that no process of ours believes them too.
"""

from __future__ import annotations

import os
import socket
from collections.abc import MutableMapping
from typing import Final

NAMES: Final = ("hook", "events")

_FIRST: Final = 3
_VARIABLES: Final = ("LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES")


class ActivationError(Exception):
    """What was passed can't be served from. The text is one line; the unit files are wrong."""


def take(environ: MutableMapping[str, str], pid: int) -> dict[str, socket.socket]:
    """The sockets that were passed to this very process, by name; {} when none were.

    Raises ActivationError for a name that is unknown or given twice, and for anything but a
    listening Unix stream socket.
    """
    told, count_text, names_text = (environ.pop(name, "") for name in _VARIABLES)
    if told != str(pid):  # meant for another process: a parent that did not clean up
        return {}
    if not count_text.isdecimal():
        raise ActivationError(f"LISTEN_FDS is `{count_text}`, not a number")
    count = int(count_text)
    names = names_text.split(":") if names_text else []
    for number in range(_FIRST, _FIRST + count):
        try:
            os.set_inheritable(number, False)
        except OSError as error:
            raise ActivationError(f"passed descriptor {number} is not open") from error
    if len(names) != count:
        raise ActivationError(f"{count} sockets were passed with {len(names)} names in LISTEN_FDNAMES")
    for name in names:
        if name not in NAMES:
            raise ActivationError(f"a socket was passed as `{name}`; known names: {', '.join(NAMES)}")
        if names.count(name) > 1:
            raise ActivationError(f"two sockets were passed as `{name}`")
    return {name: _listening(number, name) for number, name in enumerate(names, _FIRST)}


def _listening(number: int, name: str) -> socket.socket:
    try:
        listener = socket.socket(fileno=number)
    except OSError as error:
        raise ActivationError(f"descriptor {number}, passed as `{name}`, is not a socket") from error
    listens = listener.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
    if listener.family != socket.AF_UNIX or listener.type != socket.SOCK_STREAM or not listens:
        listener.detach()
        raise ActivationError(f"the socket passed as `{name}` is no listening Unix stream socket")
    return listener
