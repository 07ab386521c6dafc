"""The optional token: a secret in the runtime directory that every hook has to bring along.

It keeps out what reaches the socket without seeing its directory, a sandbox with the socket mounted
into it for one. It is no boundary against the user's own processes.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path
from typing import Final

_BYTES: Final = 32


def provide(path: str, *, wanted: bool) -> str | None:
    """A fresh token in the file at ``path`` (mode 0600), or no file and None. Raises OSError.

    Renamed into place, so that no hook reads half a token.
    """
    if not wanted:
        with contextlib.suppress(FileNotFoundError):
            Path(path).unlink()
        return None
    token = secrets.token_hex(_BYTES)
    new = Path(f"{path}.new")
    with contextlib.suppress(FileNotFoundError):
        new.unlink()
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        os.write(descriptor, token.encode())
    finally:
        os.close(descriptor)
    new.rename(path)
    return token
