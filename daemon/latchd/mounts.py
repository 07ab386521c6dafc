"""Which mounts can hang, and which of them a path meets before it is where it leads. Pure.

A file system behind a network, or behind a process of the user's, answers when the other end does:
for whoever asks it that may be never. All others answer when the machine does.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import Final

_SLOW: Final = frozenset(
    "nfs nfs4 cifs smb3 smbfs ncpfs 9p afs kafs coda ceph glusterfs lustre gpfs orangefs pvfs2 beegfs panfs "
    "ocfs2 autofs davfs fuse fuseblk virtiofs vboxsf prl_fs vmhgfs".split()
)
_MAX_LINKS: Final = 40  # the kernel's own limit for one path


def slow_mounts(mountinfo: bytes) -> tuple[str, ...]:
    """The mount points, deepest last, of what can hang; ``mountinfo`` as in /proc/self/mountinfo."""
    found: set[str] = set()
    for line in mountinfo.splitlines():
        place, _, kind = line.partition(b" - ")
        fields, name = place.split(b" "), kind.split(b" ")[0].decode("ascii", "replace")
        if len(fields) > 4 and (name in _SLOW or name.startswith("fuse.")):
            found.add(_unescaped(fields[4]))
    return tuple(sorted(found))


def met(path: str, mounts: Sequence[str], readlink: Callable[[str], str]) -> str:
    """The first of these mounts that resolving an absolute path asks anything of, "" when it meets none.

    ``readlink`` raises OSError or ValueError for what is no link; it is asked of no path on a mount.
    """
    if not mounts:
        return ""
    waiting = path.split("/")[::-1]
    at, links = "/", 0
    while True:
        for mount in mounts:
            if at == mount or at.startswith(mount.rstrip("/") + "/"):
                return mount
        if not waiting:
            return ""
        name = waiting.pop()
        if name in ("", "."):
            continue
        if name == "..":
            at = posixpath.dirname(at)
            continue
        below = posixpath.join(at, name)
        try:
            # A mount point is no link, and to ask one whether it is can wake an automounter.
            target = "" if below in mounts else readlink(below)
        except (OSError, ValueError):
            target = ""
        if not target:
            at = below
            continue
        links += 1
        if links > _MAX_LINKS:
            return ""  # the kernel gives up as well
        at = "/" if target.startswith("/") else at
        waiting += target.split("/")[::-1]


def _unescaped(field: bytes) -> str:
    r"""A mount point as it is: blanks, tabs, line ends and backslashes are written as ``\040``."""
    for code in (b"040", b"011", b"012", b"134"):
        field = field.replace(b"\\" + code, bytes([int(code, 8)]))
    return field.decode("utf-8", "surrogateescape")
