"""Hook bodies of Claude Code, captured and documented ones, through the whole engine."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from corpora import SHARED_DATA, needs_shared_data
from hand_clock import HandClock
from latch_contracts.places import Places
from latch_contracts.records import OutcomeRecord, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, HookRequest
from latchd.engine import Engine
from latchd.hook_calls import Handled
from latchd.policy import parse

pytestmark = needs_shared_data

WRITTEN: Final = SHARED_DATA / "hook-payloads"
LIVE: Final = SHARED_DATA / "live-payloads" / "claude"

# Where we answer otherwise than the index, and why.
EXCEPTIONS: Final = {
    "file_read.json": (
        Action.DENY,
        "reading a project's .env is a credential read, which `balanced` denies; the index lets it "
        "through to serve as the first step of a chain",
    ),
    "permission_request.json": (
        Action.ALLOW,
        "the person is being asked already: silence leaves the question to them",
    ),
}

# Captured proposals that are not harmless, and what they must meet.
REFUSED: Final = {
    "pre_accept_edits.json": Action.DENY,  # switches all hooks off in the project's settings
    "pre_bypass.json": Action.DENY,  # empties the settings file that holds the hooks
    "permission_request_write.json": Action.DENY,  # asks for the first of the two
}


def written() -> Iterator[tuple[str, dict[str, Any]]]:
    if WRITTEN.is_dir():
        index = json.loads((WRITTEN / "index.json").read_text("utf-8"))
        for row in index["payloads"]:
            if row["connector"] == "claudecode":
                yield row["file"], row


def live() -> Iterator[tuple[str, dict[str, Any]]]:
    if LIVE.is_dir():
        for row in json.loads((LIVE / "index.json").read_text("utf-8"))["payloads"]:
            yield row["file"].rpartition("/")[2], row


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    state = str(tmp_path)
    engine = Engine.open(Places(state, state, state), parse(b""), HandClock(), home="/home/dev")
    yield engine
    engine.close()


def send(engine: Engine, body: bytes) -> Handled:
    return engine.handle(HookRequest(VERSION, "claudecode", "", "2.1.332", "/", "", body))


def proposal_of(result: dict[str, Any]) -> bytes:
    """The proposal that a captured result answers."""
    told = ("tool_response", "error", "is_interrupt", "duration_ms", "reason")
    return json.dumps(
        {key: value for key, value in result.items() if key not in told} | {"hook_event_name": "PreToolUse"}
    ).encode()


def verdict_of(handled: Handled) -> Action:
    (record,) = [record for record in handled.records if isinstance(record, VerdictRecord)]
    denied = b'"deny"' in handled.reply.stdout
    assert denied == (record.action is Action.DENY)
    return record.action


@pytest.mark.parametrize(("name", "row"), [pair for pair in written() if "expected_verdict" in pair[1]])
def test_a_written_proposal_gets_the_verdict_its_index_says(
    engine: Engine, name: str, row: dict[str, Any]
) -> None:
    expected, _ = EXCEPTIONS.get(name.rpartition("/")[2], (Action(row["expected_verdict"]), ""))

    assert verdict_of(send(engine, (WRITTEN / name).read_bytes())) is expected


@pytest.mark.parametrize(("name", "row"), [pair for pair in live() if pair[1]["kind"] == "pre"])
def test_a_captured_proposal_passes_unless_it_takes_the_hooks_away(
    engine: Engine, name: str, row: dict[str, Any]
) -> None:
    handled = send(engine, (LIVE / name).read_bytes())

    assert verdict_of(handled) is REFUSED.get(name, Action.ALLOW)
    (record,) = [record for record in handled.records if isinstance(record, VerdictRecord)]
    assert record.call == row["call_id"]


RESULTS: Final = [
    *(
        (WRITTEN / name, row)
        for name, row in written()
        if "expected_outcome" in row and row["kind"] in ("post", "denied")
    ),
    *(
        (LIVE / name, row)
        for name, row in live()
        if "expected_outcome" in row and row["kind"] in ("post", "denied") and "dup_id" not in name
    ),
]
STATES: Final = {"success": "succeeded", "failure": "failed"}
NEVER_RAN: Final = frozenset({"file_read_post.json"})  # its proposal is one of the exceptions above


@pytest.mark.parametrize(("path", "row"), RESULTS, ids=[path.name for path, _ in RESULTS])
def test_a_result_ends_its_call_as_its_index_says(engine: Engine, path: Path, row: dict[str, Any]) -> None:
    """Each result after its own proposal: a step exactly when the index says success."""
    body = path.read_bytes()
    send(engine, proposal_of(json.loads(body)))

    handled = send(engine, body)

    (record,) = [record for record in handled.records if isinstance(record, OutcomeRecord)]
    expected = STATES.get(row["expected_outcome"], row["expected_outcome"])
    if path.name in NEVER_RAN:
        expected = "denied"
        assert record.alarm == "denied-call-executed"
    assert [(one["state"], one["step"] is not None) for one in engine.show(row["call_id"]).states] == [
        (expected, expected == "succeeded")
    ]
    assert (record.step is not None) == (expected == "succeeded")


@pytest.mark.parametrize("name", [name for name, _ in live()])
def test_no_captured_event_but_a_refused_one_gets_anything_but_silence(engine: Engine, name: str) -> None:
    handled = send(engine, (LIVE / name).read_bytes())

    silent = (handled.reply.exit_code, handled.reply.stdout, handled.reply.stderr) == (0, b"", b"")
    assert silent == (name not in REFUSED)
    assert handled.records != []


def test_a_doubled_id_promotes_nothing(engine: Engine) -> None:
    """Captured: two proposals under one id in one message, then their results in the other order."""
    for name in ("pre_dup_id_a", "pre_dup_id_b", "post_dup_id_b", "post_dup_id_a"):
        send(engine, (LIVE / f"{name}.json").read_bytes())

    call = json.loads((LIVE / "pre_dup_id_a.json").read_bytes())["tool_use_id"]
    assert [(one["state"], one["step"]) for one in engine.show(call).states] == [("poisoned", None)]


def test_an_id_that_comes_back_in_a_later_message_promotes_nothing_more(engine: Engine) -> None:
    first, second = ((LIVE / f"pre_reused_id_{n}.json").read_bytes() for n in (1, 2))
    result = json.dumps(json.loads(first) | {"hook_event_name": "PostToolUse", "tool_response": {}}).encode()
    later = json.dumps(json.loads(second) | {"hook_event_name": "PostToolUse", "tool_response": {}}).encode()
    for body in (first, result, second, later):
        send(engine, body)

    call = json.loads(first)["tool_use_id"]
    (state,) = engine.show(call).states
    assert state["state"] == "succeeded"
    assert (
        sum(
            isinstance(record, OutcomeRecord) and record.step is not None
            for record in engine.show(call).records
        )
        == 1
    )


def test_a_background_agents_call_outlives_its_parents_stop(engine: Engine) -> None:
    result = (LIVE / "subagent_post_after_parent_stop.json").read_bytes()
    members = json.loads(result)
    stop = {key: members[key] for key in ("session_id", "cwd", "prompt_id")} | {"hook_event_name": "Stop"}
    send(engine, proposal_of(members))
    send(engine, json.dumps(stop).encode())
    send(engine, result)

    (state,) = engine.show(members["tool_use_id"]).states
    assert state["state"] == "succeeded"


def test_captured_siblings_are_paired_whatever_their_order(engine: Engine) -> None:
    for order in (2, 4, 3, 1, 0):
        send(engine, (LIVE / f"parallel_pre_{order}.json").read_bytes())
    for order in (3, 1, 0, 2):
        send(engine, (LIVE / f"parallel_post_{order}.json").read_bytes())

    states = {
        row["call_id"]: engine.show(row["call_id"]).states[0]["state"]
        for name, row in live()
        if name.startswith("parallel_pre_")
    }
    # one of the five read a file that is not there; its failure was not captured
    assert sorted(states.values()) == ["pending", "succeeded", "succeeded", "succeeded", "succeeded"]
