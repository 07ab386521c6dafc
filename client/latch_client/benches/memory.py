"""What reading each hostile text adds to a process, as JSON: ``python -m latch_client.benches.memory``.

Each is read in a child of its own, forked from a process that has read only a small one, so that nothing
an earlier text left behind is used again.
"""

from __future__ import annotations

import json
import os
import resource
import sys

from latch_client.benches.hostile import hostile
from latchd.shell.facts import analyze

_UNIT = 1 if sys.platform == "darwin" else 1024  # bytes of one unit of ru_maxrss


def added(text: str) -> float:
    """MiB that the resident memory of a forked child grows by, at its highest, while it reads the text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before = _highest()
        analyze(text, cwd="/home/dev/project", home="/home/dev")
        os.write(writing, str(_highest() - before).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as answer:
        grown = answer.read()
    os.waitpid(child, 0)
    return round(int(grown) / 2**20, 1)


def _highest() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _UNIT


if __name__ == "__main__":
    analyze("git status --short | cat", cwd="/home/dev/project", home="/home/dev")
    json.dump({kind: added(text) for kind, text in hostile().items()}, sys.stdout)
