"""`latchctl demo`: a written Claude Code session through the real shim, against a private daemon.

Each scene is one hook call: what the agent sends, what it gets back, and what the records say.
Nothing of it runs a tool, and nothing touches the user's own daemon, settings or files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from latch_client import link, paint, private
from latch_client.errors import DONE, FAILED
from latch_client.render_records import line as record_line
from latch_client.subparsers import Subparsers

_SESSION: Final = "demo-session"


class Scene(msgspec.Struct, frozen=True):
    """``expect`` is what the agent is told: "passes", "is refused" or "hears nothing"."""

    title: str
    event: str
    call: str
    expect: str
    tool: str = "Bash"
    arguments: dict[str, Any] = {}
    more: dict[str, Any] = {}


_README: Final = {"file_path": "{project}/README.md"}
_OK: Final = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}

SCENES: Final[Sequence[Scene]] = (
    Scene(
        "The agent reads a file of its project: allowed, and pending",
        "PreToolUse",
        "call_1",
        "passes",
        "Read",
        _README,
    ),
    Scene(
        "The read succeeds under the same id: now it is a step",
        "PostToolUse",
        "call_1",
        "hears nothing",
        "Read",
        _README,
        {"tool_response": {"type": "text", "file": {"filePath": "README.md"}}},
    ),
    Scene(
        "The agent wants the home directory gone: refused",
        "PreToolUse",
        "call_2",
        "is refused",
        arguments={"command": "cd build && rm -rf ~"},
    ),
    Scene(
        "The agent runs the tests: allowed, and pending",
        "PreToolUse",
        "call_3",
        "passes",
        arguments={"command": "make test"},
    ),
    Scene(
        "The tests fail: nothing is promoted",
        "PostToolUseFailure",
        "call_3",
        "hears nothing",
        arguments={"command": "make test"},
        more={"error": "Exit code 2\nmake: *** [test] Error 1", "is_interrupt": False},
    ),
    Scene(
        "The agent asks what it could run with more rights: allowed, and pending",
        "PreToolUse",
        "call_5",
        "passes",
        arguments={"command": "sudo -l"},
    ),
    Scene(
        "It is told: the first step of a chain is proven",
        "PostToolUse",
        "call_5",
        "hears nothing",
        arguments={"command": "sudo -l"},
        more={"tool_response": _OK},
    ),
    Scene(
        "The agent wants a root shell, which alone would pass: refused as the chain's second step",
        "PreToolUse",
        "call_6",
        "is refused",
        arguments={"command": "sudo -i"},
    ),
    Scene(
        "The agent starts a long build: allowed, and pending",
        "PreToolUse",
        "call_4",
        "passes",
        arguments={"command": "make all"},
    ),
    Scene(
        "The turn ends before the build does: what is pending is cut",
        "Stop",
        "",
        "hears nothing",
        more={"stop_hook_active": False},
    ),
    Scene(
        "The result of the build comes late: it changes nothing",
        "PostToolUse",
        "call_4",
        "hears nothing",
        arguments={"command": "make all"},
        more={"tool_response": _OK},
    ),
)


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "demo",
        help="replay a session through the real hook and a private daemon",
        description="Replay a written session through the real hook and a private daemon: what the agent is "
        "told, and what the records say. Runs no tool and touches nothing of yours.",
    )
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    with private.daemon() as daemon:
        return DONE if play(daemon) else FAILED


def play(daemon: private.Private) -> bool:
    """All scenes in order; False when one went otherwise than written."""
    project = daemon.home / "project"
    project.mkdir()
    (project / "README.md").write_text("# A project\n", encoding="utf-8")
    colour = paint.wanted(sys.stdout)
    as_written = True
    cursor = 0
    for number, scene in enumerate(SCENES, 1):
        payload = _payload(scene, str(project))
        done = subprocess.run(
            daemon.hook_argv, input=payload, env=daemon.environ, capture_output=True, check=False, timeout=30
        )
        told = _told(scene, done)
        as_written &= told == scene.expect
        print(f"{number}. {scene.title}")
        print(f"   agent   {scene.event} {_subject(scene, project)}".rstrip())
        print(f"   hook    the agent {told} (exit code {done.returncode})")
        if done.stderr:
            print(f"           {done.stderr.decode().strip()}")
        for record in link.history(daemon.places, cursor=cursor):
            cursor = record.seq
            print(f"   tail    {record_line(record, colour=colour)}")
        print()
    return as_written


def _subject(scene: Scene, project: Path) -> str:
    """The tool and what it is about, as the agent would show it."""
    if not scene.call:
        return ""
    words = (scene.arguments.get(key, "") for key in ("command", "file_path"))
    return " ".join((scene.tool, *(word.format(project=project) for word in words if word)))


def _payload(scene: Scene, project: str) -> bytes:
    members: dict[str, Any] = {
        "session_id": _SESSION,
        "transcript_path": f"{project}/transcript.jsonl",
        "cwd": project,
        "prompt_id": "demo-turn",
        "permission_mode": "default",
        "hook_event_name": scene.event,
    }
    if scene.call:
        arguments = {
            key: value.format(project=project) if isinstance(value, str) else value
            for key, value in scene.arguments.items()
        }
        members |= {"tool_name": scene.tool, "tool_input": arguments, "tool_use_id": scene.call}
    return json.dumps(members | scene.more).encode()


def _told(scene: Scene, done: subprocess.CompletedProcess[bytes]) -> str:
    if done.returncode == 2 and b'"permissionDecision":"deny"' in done.stdout:
        return "is refused"
    if done.returncode == 0 and not done.stdout and not done.stderr:
        return "passes" if scene.event == "PreToolUse" else "hears nothing"
    return f"gets {done.stdout!r} {done.stderr!r}"
