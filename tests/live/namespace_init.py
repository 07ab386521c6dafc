"""Process 1 of a live run's namespaces: brings up loopback, hides managed settings, and waits.

Run as ``python -IS namespace_init.py``; says ``ready``, then reads stdin to its end. When it ends,
by that or by a signal, the kernel ends every process of the run with it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import socket
import struct
import subprocess
import sys
from typing import Final

MANAGED: Final = "/etc/claude-code"  # an administrator's settings would bring hooks of their own into a run

_IFREQ: Final = "16sh22x"  # struct ifreq: a name and the flags, padded
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 1


def raise_loopback() -> None:
    """What `ip link set lo up` does; iproute2 need not be there."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        found = fcntl.ioctl(handle, _SIOCGIFFLAGS, struct.pack(_IFREQ, b"lo", 0))
        flags = struct.unpack(_IFREQ, found)[1]
        fcntl.ioctl(handle, _SIOCSIFFLAGS, struct.pack(_IFREQ, b"lo", flags | _IFF_UP))


def main() -> None:
    raise_loopback()
    if os.path.isdir(MANAGED):  # noqa: PTH112 — pathlib would cost more than the rest of this file
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", MANAGED], check=True)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # orphans of the run are reaped by the kernel
    print("ready", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
