"""``latchctl demo``: a written Claude Code session through the real shim, against a private daemon.

Each scene is one hook call: what the agent sends, what it gets back, and what the records say.
Nothing of it runs a tool, and nothing touches the user's own daemon, settings or files.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from latch_client import link, paint, private
from latch_client.render_records import line as record_line

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
    Scene("reads a file of the project", "PreToolUse", "call_1", "passes", "Read", _README),
    Scene(
        "the read succeeds: now it is history",
        "PostToolUse",
        "call_1",
        "hears nothing",
        "Read",
        _README,
        {"tool_response": {"type": "text", "file": {"filePath": "README.md"}}},
    ),
    Scene(
        "wants the home directory gone",
        "PreToolUse",
        "call_2",
        "is refused",
        arguments={"command": "cd build && rm -rf ~"},
    ),
    Scene("runs the tests", "PreToolUse", "call_3", "passes", arguments={"command": "make test"}),
    Scene(
        "they fail: nothing becomes history",
        "PostToolUseFailure",
        "call_3",
        "hears nothing",
        arguments={"command": "make test"},
        more={"error": "Exit code 2\nmake: *** [test] Error 1", "is_interrupt": False},
    ),
    Scene("starts a long build", "PreToolUse", "call_4", "passes", arguments={"command": "make all"}),
    Scene("the turn ends first", "Stop", "", "hears nothing", more={"stop_hook_active": False}),
    Scene(
        "the build's result comes late: it changes nothing",
        "PostToolUse",
        "call_4",
        "hears nothing",
        arguments={"command": "make all"},
        more={"tool_response": _OK},
    ),
)


def add(subparsers: Any) -> None:
    parser = subparsers.add_parser("demo", help="replay a session through the real hook and a private daemon")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    try:
        with private.daemon() as daemon:
            return 0 if play(daemon) else 1
    except private.PrivateError as error:
        print(f"latchctl: {error}", file=sys.stderr)
        return 1


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
        print(
            f"{number}. The agent {scene.title}."
            if scene.event == "PreToolUse"
            else f"{number}. {scene.title[0].upper()}{scene.title[1:]}."
        )
        subject = scene.arguments.get("command") or scene.arguments.get("file_path", "").format(
            project=project
        )
        print(f"   {scene.event} {scene.tool if scene.call else ''} {subject}".rstrip())
        print(
            f"   the agent {told} (exit code {done.returncode})"
            + (f": {done.stderr.decode().strip()}" if done.stderr else "")
        )
        for record in link.history(daemon.places, cursor=cursor):
            cursor = record.seq
            print(f"     {record_line(record, colour=colour)}")
        print()
    return as_written


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
