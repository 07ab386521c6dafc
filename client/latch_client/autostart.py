"""Starts the daemon from a hook, only where the hook line says ``--autostart``.

The daemon gets nothing of the agent's: no descriptor (a host waits for the end of every pipe it
gave out), no session, no working directory, and of the environment only what says where things live.
"""

import posix
import sys

_KEPT = (b"HOME", b"USER", b"LOGNAME", b"PATH", b"LANG", b"TZ", b"TMPDIR")
_KEPT_PREFIXES = (b"XDG_", b"LATCHD_", b"LC_")


def spawn(environ: dict[bytes, bytes]) -> None:
    """Start ``python -m latchd`` and do not wait. A second one started at the same time ends by itself."""
    posix.chdir("/")
    posix.posix_spawn(
        sys.executable,
        [sys.executable, "-P", "-m", "latchd"],
        environment(environ),
        file_actions=descriptors(),
        setsid=True,
    )


def environment(environ: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """The agent's environment holds its API key; the daemon has no use for it."""
    return {k: v for k, v in environ.items() if k in _KEPT or k.startswith(_KEPT_PREFIXES)}


def descriptors() -> list[tuple[int, int] | tuple[int, int, str, int, int]]:
    """/dev/null on 0 to 2, everything else closed: also what the agent left open beside them."""
    actions: list[tuple[int, int] | tuple[int, int, str, int, int]] = [
        (posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in range(3)
    ]
    for name in posix.listdir("/proc/self/fd"):
        number = int(name)
        try:
            inherited = number > 2 and posix.get_inheritable(number)
        except OSError:
            continue  # the descriptor of this very listing
        if inherited:
            actions.append((posix.POSIX_SPAWN_CLOSE, number))
    return actions
