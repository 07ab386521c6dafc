"""Real bash runs a text in an empty directory; what it calls is recorded, name and words.

PATH holds recorders and four harmless tools; a name that is not there ends in the shell's own handler
and is recorded by it. A text that does not end is killed and counts by what it did until then.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import shutil
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from latch_contracts.facts import ActionFacts, Command, Status
from latchd.shell.facts import analyze
from shellfuzz.programs import NAMES

BASH: Final = shutil.which("bash") or ""
TOOLS: Final = ("bash", "cat", "env", "xargs")
SECONDS: Final = 2
_BOUNDS: Final = "FUNCNEST=9; ulimit -t 2 -f 64 -v 2000000"
_READERS: Final = frozenset({"bash", "source", "."})

Record = tuple[str, ...]  # argv as the program got it


class Recorder:
    """Runs texts below one directory, one after the other."""

    def __init__(self, root: Path) -> None:
        self.bin = root / "bin"
        self.bin.mkdir(parents=True)
        self.log = root / "ran"
        self.home = root / "empty"
        for name in NAMES:
            program = self.bin / name
            # what it prints would be a command too: text that runs a program's output must not be complete
            program.write_text(
                f"#!/bin/sh\nprintf '%s\\0' $# \"${{0##*/}}\" \"$@\" >>'{self.log}'\necho k9 out 2>&-\n"
            )
            program.chmod(0o755)
        for tool in TOOLS:
            found = shutil.which(tool)
            if found:
                (self.bin / tool).symlink_to(found)
        handler = f"() {{ builtin printf '%s\\0' $(($# - 1)) \"$@\" >>'{self.log}'; }}"
        self.environ = {
            "PATH": str(self.bin),
            "HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "BASH_FUNC_command_not_found_handle%%": handler,
        }

    def run(self, text: str) -> list[Record]:
        """What `bash -c text` called, in the order of their ends."""
        self.log.write_bytes(b"")
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir()
        alive, held = os.pipe()  # every process of the run holds an end; the last one to go closes it
        try:
            with subprocess.Popen(
                [BASH, "--norc", "--noprofile", "-c", f"{_BOUNDS}\n{text}"],
                cwd=self.home,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(held,),
            ) as process:
                os.close(held)
                select.select([alive], [], [], SECONDS)
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
        finally:
            os.close(alive)
        return _records(self.log.read_bytes())


def _records(raw: bytes) -> list[Record]:
    fields = raw.decode("utf-8", "replace").split("\0")[:-1]
    found: list[Record] = []
    while fields:
        size = int(fields[0]) + 1
        found.append(tuple(fields[1 : 1 + size]))
        del fields[: 1 + size]
    return found


def unlisted(facts: ActionFacts, records: Sequence[Record]) -> list[Record]:
    """Recorded calls that no command of the facts allows; literal words must be equal to the letter."""
    return [record for record in records if not any(_allows(command, record) for command in facts.commands)]


def missed(recorder: Recorder, text: str) -> list[Record]:
    """Calls of the text that facts called complete do not list. Incomplete facts promise nothing."""
    facts = analyze(text, cwd="/w", home=str(recorder.home))
    return unlisted(facts, recorder.run(text)) if facts.status is Status.COMPLETE else []


def _allows(command: Command, record: Record) -> bool:
    if command.program in _READERS and record[0] in command.argv[1:]:
        return True  # `bash mk` reads mk as a script: that is no command of the text
    if (
        record[0] == "COPROC"
    ):  # bash 5.2 writes a coproc in `[[ $(…) ]]` anew with its name, and runs the name
        record = record[1:]
    if not command.argv or command.argv[0].rpartition("/")[2] != record[0]:
        return False
    pattern = [
        (re.escape(word.value.replace("\0", "\1")).replace("\1", ".*"), word)
        for word in command.arguments[1:]
    ]
    form = "".join(
        r"(?:[^\0]*\0)*"
        if word.globs
        else f"(?s:{text})\0"
        if "\0" in word.value
        else "[^\\0]*\\0"
        if word.expands
        else f"{text}\0"
        for text, word in pattern
    ).replace(".*", r"[^\0]*")
    return re.fullmatch(form, "".join(f"{word}\0" for word in record[1:])) is not None
