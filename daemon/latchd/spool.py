"""What shims wrote down while nobody answered: read once, and told as gaps.

The file is renamed before it is read, so a shim that writes meanwhile starts a new one and no line
is told twice. A shim that still holds the old file may lose its line; the refusal it spoke is not lost.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections import Counter
from pathlib import Path
from typing import Final

import msgspec

from latch_contracts.records import Record
from latchd.engine_port import Journal
from latchd.redact import cut, head, shown_id

MAX_BYTES: Final = 1 << 20  # the shims stop there too
_MAX_TEXT: Final = 200
MAX_KINDS: Final = 64  # a record each; real spools have one or two kinds of line, anybody can write one


class Line(msgspec.Struct, frozen=True):
    """One line, as `latch_client/fallbacks.py` writes it; other members are passed over."""

    v: int
    connector: str
    event: str
    why: str


def collect(path: str, journal: Journal) -> list[Record]:
    """Take the spool at ``path`` into records, and remove it. [] when there is none."""
    taken = f"{path}.taken"
    # A daemon that was killed while it told of an earlier spool left that one here; it comes first.
    records = _tell_and_remove(taken, journal)
    with contextlib.suppress(OSError):
        if not Path(taken).exists():
            Path(path).rename(taken)
            records += _tell_and_remove(taken, journal)
    return records


def _tell_and_remove(taken: str, journal: Journal) -> list[Record]:
    """A store that can't take the gaps leaves the file for the next look."""
    content = _read(taken)
    if content is None:
        return []
    records = _tell(content, journal)
    if records or not content:
        Path(taken).unlink()
    return records


def _read(path: str) -> bytes | None:
    """At most MAX_BYTES + 1 bytes of a regular file of ours; None when there is none to read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or status.st_uid != os.getuid():
            return None
        with os.fdopen(os.dup(descriptor), "rb") as lines:
            return lines.read(MAX_BYTES + 1)
    finally:
        os.close(descriptor)


def _tell(content: bytes, journal: Journal) -> list[Record]:
    """One gap per kind of line, with its count: a day without a daemon is not a thousand records."""
    found: Counter[tuple[str, str]] = Counter()
    junk = 0
    for raw in content[:MAX_BYTES].splitlines():
        try:
            line = _line.decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError):
            junk += 1
            continue
        what = "oversize" if line.why.startswith("too-large") else "unreachable"
        # Only the reason can hold a foreign word; an event's name before a colon would look like a secret's.
        event = shown_id(line.event) or "proposal"
        told = cut(f"{shown_id(line.connector)} {event}: {head(line.why, _MAX_TEXT)}", _MAX_TEXT)
        found[what, told] += 1
    records: list[Record] = []
    kinds = found.most_common()
    for (what, detail), count in kinds[:MAX_KINDS]:
        records += journal.gap(what, count=count, detail=detail)
    if rest := sum(count for _, count in kinds[MAX_KINDS:]):
        records += journal.gap(
            "unreachable", count=rest, detail="more kinds of line than are told one by one"
        )
    if junk:
        records += journal.gap("unreachable", count=junk, detail="lines of the spool that can't be read")
    if len(content) > MAX_BYTES:
        records += journal.gap("unreachable", count=1, detail="the spool was longer than it may be; cut")
    return records


_line: Final = msgspec.json.Decoder(Line)
