"""Where sockets, state and config live: one resolver for daemon and client, pure from an environment.

The shim can't import this (it runs without site-packages) and carries a copy of :func:`runtime_dir`
and :func:`state_dir`; a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import msgspec

# sun_path is 108 bytes with its NUL; CPython's own error for a longer one has no errno.
MAX_SOCKET_PATH: Final = 107


class PlaceError(Exception):
    """A place can't be used; the text names it and says why."""


class Places(msgspec.Struct, frozen=True):
    runtime: str
    state: str
    config: str

    @property
    def hook_socket(self) -> str:
        return f"{self.runtime}/hook.sock"

    @property
    def events_socket(self) -> str:
        return f"{self.runtime}/events.sock"

    @property
    def lock(self) -> str:
        return f"{self.runtime}/latchd.lock"

    @property
    def token(self) -> str:
        return f"{self.runtime}/hook.token"

    @property
    def database(self) -> str:
        return f"{self.state}/latchd.db"

    @property
    def key(self) -> str:
        return f"{self.state}/latchd.key"

    @property
    def spool(self) -> str:
        """Where a shim that found no daemon leaves one JSON line."""
        return f"{self.state}/spool.jsonl"

    @property
    def installs(self) -> str:
        """What the installer wrote where: settings files, hook lines, agent versions."""
        return f"{self.state}/installs.json"

    @property
    def config_file(self) -> str:
        return f"{self.config}/config.toml"


def resolve(environ: Mapping[str, str], uid: int, private_dir: Callable[[str], bool]) -> Places:
    """All places for this user. ``private_dir(path)``: is it a directory of ours, closed to others?

    Raises PlaceError when there is no home to stand on, or a socket path would not fit the kernel.
    """
    places = Places(
        runtime=runtime_dir(environ, uid, private_dir),
        state=state_dir(environ),
        config=_xdg(environ, "LATCHD_CONFIG_DIR", "XDG_CONFIG_HOME", ".config"),
    )
    for path in (places.hook_socket, places.events_socket):
        size = len(path.encode("utf-8", "surrogateescape"))
        if size > MAX_SOCKET_PATH:
            raise PlaceError(
                f"socket path `{path}` has {size} bytes, the kernel takes {MAX_SOCKET_PATH}; "
                "set LATCHD_RUNTIME_DIR to a shorter directory"
            )
    return places


def runtime_dir(environ: Mapping[str, str], uid: int, private_dir: Callable[[str], bool]) -> str:
    """LATCHD_RUNTIME_DIR, else latchd/ in XDG_RUNTIME_DIR, /run/user/UID (if ours) or the state directory."""
    if own := environ.get("LATCHD_RUNTIME_DIR", ""):
        return own
    base = environ.get("XDG_RUNTIME_DIR", "")
    if base.startswith("/"):
        return f"{base}/latchd"
    base = f"/run/user/{uid}"
    if private_dir(base):
        return f"{base}/latchd"
    return f"{state_dir(environ)}/run"


def state_dir(environ: Mapping[str, str]) -> str:
    return _xdg(environ, "LATCHD_STATE_DIR", "XDG_STATE_HOME", ".local/state")


def _xdg(environ: Mapping[str, str], own: str, variable: str, below_home: str) -> str:
    if value := environ.get(own, ""):
        return value
    base = environ.get(variable, "")
    if base.startswith("/"):  # the XDG specification: a relative path is to be ignored
        return f"{base}/latchd"
    home = environ.get("HOME", "")
    if not home.startswith("/"):
        raise PlaceError(f"neither {own}, {variable} nor HOME names an absolute directory")
    return f"{home}/{below_home}/latchd"
