"""Where this user's sockets, state and config are: the shared resolver, fed from this process."""

from __future__ import annotations

import os
import stat

from latch_client.errors import CommandError
from latch_contracts.places import PlaceError, Places, resolve


def places() -> Places:
    """All places. Raises CommandError when there is no home, or a socket path would not fit."""
    try:
        return resolve(os.environ, os.getuid(), private_dir)
    except PlaceError as error:
        raise CommandError(str(error)) from error


def private_dir(path: str) -> bool:
    """Is it a directory of ours, closed to everybody else?"""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077
