"""Mistakes with `latchctl` itself: one clear line, the exit code that goes with it, and no traceback."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest

from corpora import REPOSITORY

CONTROL = [sys.executable, "-c", "import sys; from latch_client.cli import main; sys.exit(main())"]
SOURCES = ":".join(str(REPOSITORY / part) for part in ("daemon", "client", "contracts"))


def shell(
    line: str, root: Path, *words: bytes | str, leave_out: Iterable[str] = ()
) -> subprocess.CompletedProcess[str]:
    """Run a shell line in which `latchctl` is ours and `$@` are ``words``."""
    environ = {
        "HOME": str(root),
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": SOURCES,
        "LATCHD_STATE_DIR": str(root / "state"),
        "LATCHD_RUNTIME_DIR": str(root / "run"),
    }
    for name in leave_out:
        del environ[name]
    define = (
        'latchctl() { "$python" -c "import sys; from latch_client.cli import main; sys.exit(main())" "$@"; }'
    )
    return subprocess.run(
        ["sh", "-c", f"{define}\n{line}", "sh", *words],
        env=environ | {"python": sys.executable},
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="surrogateescape",
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize(
    ("line", "code", "told"),
    [
        ("--json status", 2, "`--json` stands before the command; see `latchctl --help`"),
        ("instal", 2, "there is no command `instal`; did you mean `install`; see `latchctl --help`"),
        ("status now", 2, "unrecognized arguments: now; see `latchctl status --help`"),
        (
            "explain ls -la",
            2,
            "unrecognized arguments: -la; a command is one argument, in quotes; "
            "see `latchctl explain --help`",
        ),
        ("check ls --jsonl rows", 2, "give either a COMMAND or --jsonl"),
        ("check --jsonl rows", 1, "`rows`: no such file or directory"),
        ("check --jsonl .", 1, "`.`: is a directory"),
        ("check --config rows ls", 1, "`rows`: no such file or directory"),
        (
            "tail -n 3 --since 4",
            2,
            "argument --since: not allowed with argument -n; see `latchctl tail --help`",
        ),
        ("history -n -1", 2, "argument -n: `-1` is no number from 0 up; see `latchctl history --help`"),
        (
            "tail --connector claud",
            2,
            "argument --connector: there is no connector `claud`; known: claudecode; "
            "see `latchctl tail --help`",
        ),
        ("show x", 1, "the daemon is not running; start it with `latchctl up`"),
        ("probe", 1, "no hook payload on stdin"),
        ("uninstall", 2, "name a CONNECTOR, or give --systemd; see `latchctl connectors`"),
        (
            "install claudecode --settings ''",
            2,
            "argument --settings: the name is empty; see `latchctl install --help`",
        ),
        ("install claudecode --settings /", 1, "`/` is not a file"),
        ("install claude", 2, "there is no connector `claude`; see `latchctl connectors`"),
        ("policy show --project gone", 1, "`gone`: no such file or directory"),
    ],
)
def test_a_mistake_is_one_line(line: str, code: int, told: str, tmp_path: Path) -> None:
    done = shell(f"latchctl {line}", tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (
        code,
        "",
        f"latchctl: {told}\n",
    )


@pytest.mark.parametrize("words", [("explain",), ("check",), ("facts",)])
def test_a_command_that_is_not_utf8_is_one_line(words: Sequence[str], tmp_path: Path) -> None:
    done = shell('latchctl "$@"', tmp_path, *words, b"\xff")

    assert (done.returncode, done.stderr) == (2, "latchctl: an argument is not UTF-8\n")


@pytest.mark.parametrize("line", ["check ls", "check --json ls", "help", "facts --json ls", "policy show"])
def test_a_full_disk_behind_stdout_is_one_line(line: str, tmp_path: Path) -> None:
    done = shell(f"latchctl {line} > /dev/full", tmp_path)

    assert (done.returncode, done.stderr) == (1, "latchctl: no space left on device\n")


@pytest.mark.parametrize("line", ["check ls >&-", "check --json ls >&-", "check ls <&- >&- 2>&-", "help >&-"])
def test_a_closed_stream_is_as_good_as_dev_null(line: str, tmp_path: Path) -> None:
    done = shell(f"latchctl {line}", tmp_path)

    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_closed_stdin_is_an_empty_one(tmp_path: Path) -> None:
    assert shell("latchctl check --jsonl <&-", tmp_path).returncode == 0
    assert shell("latchctl probe <&-", tmp_path).stderr == "latchctl: no hook payload on stdin\n"


def test_a_probe_at_a_terminal_says_what_it_reads(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [*CONTROL, "probe"],
            stdin=theirs,
            env={"HOME": str(tmp_path), "PYTHONPATH": SOURCES},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    finally:
        os.close(ours)
        os.close(theirs)

    assert (done.returncode, done.stderr) == (
        2,
        "latchctl: the hook payload is read from stdin: `latchctl probe < payload.json`\n",
    )


def test_without_a_home_what_needs_none_still_works(tmp_path: Path) -> None:
    def run(line: str) -> tuple[int, str]:
        gone = ("HOME", "LATCHD_STATE_DIR", "LATCHD_RUNTIME_DIR")
        done = shell(f"latchctl {line}", tmp_path, leave_out=gone)
        return done.returncode, done.stderr

    no_place = "latchctl: neither LATCHD_STATE_DIR, XDG_STATE_HOME nor HOME names an absolute directory\n"

    assert run("check ls") == (0, "")
    assert [run(line) for line in ("status", "up", "doctor", "install claudecode")] == [(1, no_place)] * 4
