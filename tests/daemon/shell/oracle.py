"""Real bash as the oracle: did it run the marker command `mk`?

Every text runs in an empty directory with a PATH of five harmless names; whatever else it names is not
found. Only texts made in these tests come here, never one of a corpus.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from latch_contracts.facts import Status
from latchd.shell.facts import analyze

BASH = shutil.which("bash") or ""
_READERS = ("bash", "source", ".")  # `bash mk` reads mk as a script: that is no command of the text
_TOOLS = ("bash", "cat", "env", "xargs")


class Oracle:
    """Runs texts below one directory."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir()
        self.log = root / "ran"
        self.home = root / "empty"
        marker = self.bin / "mk"
        marker.write_text(f"#!/bin/sh\n: > '{self.log}'\n")
        marker.chmod(0o755)
        for tool in _TOOLS:
            found = shutil.which(tool)
            if found:
                (self.bin / tool).symlink_to(found)

    def ran(self, text: str) -> bool:
        """Whether `bash -c text` ran mk. A text that doesn't end in two seconds counts by what it did."""
        self.log.unlink(missing_ok=True)
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        environment = {"PATH": str(self.bin), "HOME": str(self.home), "LC_ALL": "C.UTF-8"}
        with subprocess.Popen(
            [BASH, "--norc", "--noprofile", "-c", f"FUNCNEST=9; ulimit -t 2\n{text}"],
            cwd=self.home,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        ) as process:
            try:
                process.communicate(timeout=2)  # until the last child lets go of the pipe
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return self.log.exists()


def vouched_without(text: str) -> bool:
    """Whether the facts are complete and mk is not among their commands."""
    facts = analyze(text, cwd="/w", home="/h")
    if facts.status is not Status.COMPLETE:
        return False
    return all(
        command.program != "mk" and not (command.program in _READERS and "mk" in command.argv[1:])
        for command in facts.commands
    )
