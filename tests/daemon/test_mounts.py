"""Which mounts can hang, and which a path meets."""

from __future__ import annotations

import pytest

from latchd.mounts import met, slow_mounts

MOUNTINFO = b"""\
22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw
30 22 0:26 / /proc rw shared:12 - proc proc rw
41 22 0:40 / /net rw - autofs systemd-1 rw,fd=29
42 41 0:41 / /net/home rw,relatime shared:5 master:1 - nfs4 server:/home rw,vers=4.2
43 22 0:42 / /home/dev/my\\040files rw shared:6 - fuse.sshfs host: rw
44 22 0:43 / /mnt/win rw - fuseblk /dev/sdb1 rw
45 22 0:44 / /mnt/disk rw - btrfs /dev/sdc rw
46 22 0:45 / /run/user/1000/gvfs rw - fuse.gvfsd-fuse gvfsd-fuse rw
a line that is none
"""
MOUNTS = ("/home/dev/my files", "/mnt/win", "/net", "/net/home", "/run/user/1000/gvfs")


def test_what_a_network_or_a_process_answers_for_can_hang() -> None:
    assert slow_mounts(MOUNTINFO) == MOUNTS


LINKS = {
    "/home/dev/link": "/net/home/dev",
    "/home/dev/up": "../../net",
    "/home/dev/chain": "link",
    "/home/dev/own": "project",
    "/home/dev/loop": "loop",
}


def readlink(path: str) -> str:
    assert not any(path == mount or path.startswith(mount + "/") for mount in MOUNTS), f"asked of {path}"
    return LINKS[path] if path in LINKS else refuse()


def refuse() -> str:
    raise OSError


@pytest.mark.parametrize(
    ("path", "mount"),
    [
        ("/", ""),
        ("/home/dev/project/a.txt", ""),
        ("/network/x", ""),
        ("/net", "/net"),
        ("/net/home/dev/x", "/net"),
        ("/home/dev/my files/a", "/home/dev/my files"),
        ("/home/dev/my filesystem", ""),
        ("/home/dev/link/src", "/net"),
        ("/home/dev/up/x", "/net"),
        ("/home/dev/chain", "/net"),
        ("/home/dev/own/x", ""),
        ("/home/dev/loop/x", ""),
        ("/home/dev/own/../../../mnt/win/x", "/mnt/win"),
        ("/home//dev/./link", "/net"),
    ],
)
def test_a_mount_is_met_before_anything_is_asked_of_it(path: str, mount: str) -> None:
    assert met(path, MOUNTS, readlink) == mount


def test_without_such_mounts_no_link_is_looked_at() -> None:
    assert met("/home/dev/link", (), lambda _: pytest.fail("looked")) == ""


def test_a_root_that_can_hang_is_met_by_every_path() -> None:
    assert met("/home/dev", ("/",), lambda _: pytest.fail("looked")) == "/"
