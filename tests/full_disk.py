"""A real daemon whose state lies on a file system that really fills up.

A process of its own (``python -m full_disk ROOT``), to be run in a mount namespace where ``ROOT/state`` is a
small tmpfs and nothing else is lost when it ends. It prints one JSON object of what it saw.
"""

from __future__ import annotations

import errno
import json
import os
import sys
from pathlib import Path
from typing import Any

import msgspec

from latch_client.cli import main
from latch_contracts.records import GapRecord, OutcomeRecord, VerdictRecord
from latchd.store.bounds import Bounds
from latchd.store.checks import examine
from latchd.store.database import Database
from running_daemon import SILENT, daemon, environment

UNWRITABLE = b"[floor.record-unwritable]"
FULL = 5  # calls while nothing can be written


def fill(path: Path) -> None:
    """Write until the file system takes no further byte."""
    with path.open("wb", buffering=0) as file:
        for size in (1 << 16, 1 << 12, 1):
            while True:
                try:
                    file.write(bytes(size))
                except OSError as error:
                    if error.errno != errno.ENOSPC:
                        raise
                    break


def seen(root: Path) -> dict[str, Any]:
    ballast = root / "state" / "ballast"
    os.environ.update(environment(root))  # latchctl's, in this process
    with daemon(root) as running:
        assert running.pre(call="before") == SILENT
        assert running.pre(call="open") == SILENT
        assert running.post(call="before") == SILENT
        fill(ballast)
        refused = [UNWRITABLE in running.pre(f"echo {'x' * 4000}", f"full-{n}").stderr for n in range(FULL)]
        running.post(call="open")
        alive = running.process.poll() is None
        ill = running.status()
        copied = main(["db", "backup", str(ballast.with_name("copy.db"))])
        left = [one.name for one in ballast.parent.iterdir() if "copy" in one.name]
        ballast.unlink()
        after = running.pre(call="after")
        running.post(call="after")
        well = running.status()
        records = running.records()
        code = running.stop()
    database = Database.open(Path(running.places.database))
    wrong = [finding for finding in examine(database, Bounds()) if finding.breaches]
    stepped = [call for (call,) in database.rows("SELECT count(*) FROM steps")]
    database.close()
    return {
        "refused": refused,
        "alive": alive,
        "full": [ill.health, any("full" in note for note in ill.notes)],
        "after": [after == SILENT, well.health],
        "allowed": [r.call for r in records if isinstance(r, VerdictRecord) and r.action.value == "allow"],
        "promoted": [r.call for r in records if isinstance(r, OutcomeRecord) and r.step is not None],
        "unrecorded": sum(gap.count for gap in records if isinstance(gap, GapRecord)),
        "steps": stepped,
        "copied": [copied, left],
        "code": code,
        "wrong": msgspec.to_builtins(wrong),
    }


if __name__ == "__main__":
    print(json.dumps(seen(Path(sys.argv[1]))))
    os._exit(0)  # the namespace, with all that is mounted in it, ends here
