"""Targets and contacts → path and network facts.

Lexical only: no disk is read and no symlink followed. What can't be proven (a relative path without a
cwd, a dynamic part, another user's home) has ``resolved == ""``.
"""

from __future__ import annotations

import re
from typing import Final

from latch_contracts.facts import Argument, Flavor, NetworkFact, PathFact, Quote
from latchd.shell.grammar.description import Contact, Context, Target
from latchd.shell.grammar.hosts import peer

_UNTIDY: Final = re.compile(r"//|./\Z|(?:\A|/)\.\.?(?:/|\Z)", re.DOTALL)
_DISK_STEMS: Final = ("sd", "vd", "xvd", "hd")
_DISK_NUMBERED: Final = ("nvme", "mmcblk", "md", "dm-", "disk", "rdisk", "loop", "nbd", "zram", "sr", "ram")
_DEVICE_FREE: Final = ("/dev/shm/", "/dev/mqueue/")  # noqa: S108 - memory that holds plain files
_DISK_TREES: Final = ("/dev/mapper/", "/dev/disk/", "/dev/block/", "/dev/zvol/")


def path_fact(command_id: int, target: Target, context: Context) -> PathFact:
    """The fact of one target."""
    word = target.word
    resolved = resolve(word, context)
    return PathFact(
        command_id=command_id,
        access=target.access,
        value=word.value,
        normalized=normalize(word.value),
        resolved=resolved,
        flavor=_flavor(resolved or word.value),
        expands=word.expands,
        globs=word.globs,
        recursive=target.recursive,
    )


def network_fact(command_id: int, contact: Contact) -> NetworkFact:
    """The fact of one contact."""
    found = peer(contact.word.value)
    return NetworkFact(
        command_id=command_id,
        action=contact.action,
        host=found.host,
        scheme=found.scheme,
        port=found.port,
        normalized_host=found.normalized,
        scope=found.scope,
        expands=found.expands or (contact.word.expands and "\0" not in contact.word.value),
    )


def normalize(value: str) -> str:
    """Collapse ``//``, ``.`` and ``..`` by text alone; a trailing slash goes, leading ``..`` stay."""
    if not value or not _UNTIDY.search(value):
        return value
    rooted = value.startswith("/")
    kept: list[str] = []
    for part in value.split("/"):
        if part in ("", "."):
            continue
        if part != "..":
            kept.append(part)
        elif kept and kept[-1] != ".." and not _uncertain(kept[-1]):
            kept.pop()
        elif not rooted or kept:
            kept.append(part)
    text = "/".join(kept)
    if rooted:
        return "/" + text
    return text or "."


def _uncertain(part: str) -> bool:
    """A part whose parent is not known by text: dynamic, a pattern, or a home of someone."""
    return "\0" in part or part.startswith("~") or any(c in part for c in "*?[")


def resolve(word: Argument, context: Context) -> str:
    """The absolute path that a word stands for, or "". Glob patterns stay as written."""
    value = word.value
    if not value or "\0" in value or (word.expands and not value.startswith("~")):
        return ""
    if value.startswith("~") and word.quote in (Quote.NONE, Quote.MIXED):
        name, _, rest = value[1:].partition("/")
        start = {"": context.home, "+": context.cwd}.get(name, "/root" if name == "root" else "")
        if not start:
            return ""
        value = f"{start}/{rest}"
    elif not value.startswith("/"):
        if not context.cwd.startswith("/") or is_windows(value):
            return ""
        value = f"{context.cwd}/{value}"
    path = normalize(value)
    if ".." in path and ".." in path.split("/"):  # a pattern or dynamic part stands before a `..`
        return ""
    return path if path.startswith("/") else ""


def is_windows(value: str) -> bool:
    """A drive letter with a separator, or a UNC path."""
    return value.startswith("\\\\") or (
        len(value) > 2 and value[0].isalpha() and value[1] == ":" and value[2] in "\\/"
    )


def _flavor(path: str) -> Flavor:
    if path.startswith("/dev/") and not path.startswith(_DEVICE_FREE):
        return Flavor.DEVICE
    return Flavor.WINDOWS if is_windows(path) else Flavor.POSIX


def raw_disk(path: str) -> bool:
    """Whether a path is a block device: writing there overwrites a file system."""
    if path.startswith(_DISK_TREES):
        return True
    name = path.removeprefix("/dev/")
    if name == path or "/" in name:
        return False
    if name.startswith(_DISK_STEMS):
        stem = next(stem for stem in _DISK_STEMS if name.startswith(stem))
        tail = name[len(stem) :].rstrip("0123456789")
        return tail in ("*", "?") or (0 < len(tail) <= 2 and tail.isalpha()) or "[" in tail or "\0" in tail
    for stem in _DISK_NUMBERED:
        tail = name.removeprefix(stem)
        if tail != name and tail and (tail[0].isdigit() or tail[0] in "*?[\0"):
            return True
    return False
