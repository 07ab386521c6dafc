"""Which files a call runs as shell text, and what of their bytes is judged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from latchd import disk
from latchd.artifacts import MAX_BYTES, Candidate, Script, candidates, read_as_shell
from latchd.shell.facts import analyze

HERE = "/home/dev/project"


def found(command: str) -> list[tuple[str, bool]]:
    facts = analyze(command, cwd=HERE, home="/home/dev")
    return [(candidate.path, candidate.direct) for candidate in candidates(facts)]


@pytest.mark.parametrize(
    ("command", "scripts"),
    [
        ("bash build.sh --fast", [(f"{HERE}/build.sh", False)]),
        ("sudo sh /opt/x.sh", [("/opt/x.sh", False)]),
        ("source ./env.sh", [(f"{HERE}/env.sh", False)]),
        ("./run && . lib.sh", [(f"{HERE}/run", True), (f"{HERE}/lib.sh", False)]),
        (". lib.sh && ./run", [(f"{HERE}/lib.sh", False)]),  # who knows where lib.sh goes to
        ("cd tools; ./a.sh", [(f"{HERE}/tools/a.sh", True), (f"{HERE}/a.sh", True)]),
        ("bash -n build.sh", []),
        ("bash -c 'echo build.sh'", []),
        ("python3 build.py", []),
        ('bash "$X/build.sh"', []),
        ("cat build.sh", []),
        ("for i in 1 2 3 4 5 6; do bash s.sh; done", [(f"{HERE}/s.sh", False)]),
    ],
)
def test_the_scripts_of_a_call_are_found(command: str, scripts: list[tuple[str, bool]]) -> None:
    assert found(command) == scripts


def test_no_more_than_a_few_scripts_of_one_call_are_opened() -> None:
    assert len(found("; ".join(f"bash s{number}.sh" for number in range(9)))) == 4


@pytest.mark.parametrize(
    ("data", "direct", "script"),
    [
        (b"rm x\n", False, Script("p", "rm x\n")),
        (b"#!/bin/sh\nrm x\n", True, Script("p", "rm x\n")),
        (b"#!/usr/bin/env bash\nrm x\n", True, Script("p", "rm x\n")),
        (b"#!/bin/bash -eu\nrm x\n", True, Script("p", "rm x\n")),
        (b"#!/usr/bin/python3\nprint()\n", True, Script("p", skipped="not-shell")),
        (b"#!/usr/bin/python3\nprint()\n", False, Script("p", skipped="not-shell")),
        (b"rm x\n", True, Script("p", skipped="no-shebang")),
        (b"\x7fELF\xff\xfe", False, Script("p", skipped="not-text")),
        (b"x" * (MAX_BYTES + 1), False, Script("p", skipped="too-large")),
    ],
)
def test_bytes_are_read_as_the_shell_would(data: bytes, direct: bool, script: Script) -> None:
    assert read_as_shell("p", data, direct=direct) == script


def test_a_script_is_read_from_the_disk(tmp_path: Path) -> None:
    path = tmp_path / "x.sh"
    path.write_text("#!/bin/sh\necho hi\n")

    assert disk.script(Candidate(1, str(path), direct=False)) == Script(str(path), "echo hi\n")


def test_what_is_no_plain_file_or_can_not_run_is_skipped_with_its_reason(tmp_path: Path) -> None:
    plain, link, pipe = (tmp_path / name for name in ("plain.sh", "link.sh", "pipe.sh"))
    plain.write_text("#!/bin/sh\necho hi\n")
    link.symlink_to(plain)
    os.mkfifo(pipe)

    skipped = {
        path.name: disk.script(Candidate(1, str(path), direct=direct)).skipped
        for path, direct in (
            (plain, True),
            (link, False),
            (pipe, False),
            (tmp_path, False),
            (tmp_path / "missing.sh", False),
        )
    }

    assert skipped == {
        "plain.sh": "not-executable",
        "link.sh": "unreadable",
        "pipe.sh": "not-a-file",
        tmp_path.name: "not-a-file",
        "missing.sh": "unreadable",
    }
