"""How many commands have complete facts, why the rest has not, and what an analysis costs.

Analysing and parsing alone are timed in turn for every command, so that the machine's moods meet both alike.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from latch_client.benches.commands import OWN
from latch_client.benches.hostile import hostile
from latch_client.benches.times import Times
from latch_client.errors import CommandError


class _Row(msgspec.Struct):
    command: str


def commands(corpus: Path | None) -> list[str]:
    """The commands of a JSONL file, a field `command` in each line; our own without a file."""
    if corpus is None:
        return list(OWN)
    found: list[str] = []
    try:
        with corpus.open(encoding="utf-8") as lines:
            for line in lines:
                found.append(msgspec.json.decode(line, type=_Row).command)
    except (OSError, msgspec.MsgspecError) as fault:
        raise CommandError(f"can't read the corpus `{corpus}`: {fault}") from fault
    if not found:
        raise CommandError(f"`{corpus}` has no line")
    return found


def measure(texts: Sequence[str]) -> dict[str, Any]:
    """Shares and times of at least one text; shares are of all, and one text may have several issues."""
    from latchd.shell.facts import analyze
    from latchd.shell.parse import parse, to_bytes_view

    statuses, issues = Counter[str](), Counter[str]()
    analysed: list[float] = []
    parsed: list[float] = []
    for text in texts:
        start = time.perf_counter()
        facts = analyze(text, cwd="/home/dev/project", home="/home/dev")
        middle = time.perf_counter()
        parse(to_bytes_view(text) or "")
        parsed.append(time.perf_counter() - middle)
        analysed.append(middle - start)
        statuses[facts.status.value] += 1
        issues.update(issue.value for issue in facts.issues)
    return {
        "commands": len(texts),
        "complete_percent": round(100 * statuses["complete"] / len(texts), 2),
        "statuses": dict(statuses.most_common()),
        "issues": dict(issues.most_common()),
        "analyse_ms": Times.of(analysed),
        "parse_ms": Times.of(parsed),
    }


def measure_hostile() -> list[dict[str, Any]]:
    """What each kind of hostile text costs, and what comes of it: CPU time, and memory at its highest."""
    from latchd.shell.facts import analyze

    memory = json.loads(subprocess.check_output([sys.executable, "-m", "latch_client.benches.memory"]))
    figures: list[dict[str, Any]] = []
    gc.collect()
    gc.freeze()  # as the daemon does once it is up
    for kind, text in hostile().items():
        start = time.process_time()
        facts = analyze(text, cwd="/home/dev/project", home="/home/dev")
        spent = time.process_time() - start
        figures.append(
            {"kind": kind, "ms": round(1000 * spent, 3), "mib": memory[kind], "status": facts.status.value}
        )
    return figures
