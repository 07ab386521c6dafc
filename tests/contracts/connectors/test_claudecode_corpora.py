"""Every captured and every hand-written payload reads as its index says, or as EXCEPTIONS say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from corpora import SHARED_DATA, needs_shared_data
from latch_contracts.connectors.claudecode import CONTRACT, guess_event, read
from latch_contracts.contract import Kind, Route, Surface
from latch_contracts.events import HookEvent
from latch_contracts.outcome import Outcome

LIVE: Final = SHARED_DATA / "live-payloads" / "claude"
WRITTEN: Final = SHARED_DATA / "hook-payloads"

KINDS: Final[dict[str, tuple[Route, Kind]]] = {
    "pre": (Route.ACTION, Kind.PROPOSAL),
    "pre_skill_shell": (Route.DIRECT, Kind.PROPOSAL),
    "permission_request": (Route.DIRECT, Kind.PERMISSION),
    "post": (Route.RESULT, Kind.RESULT),
    "denied": (Route.RESULT, Kind.DENIAL),
    "batch": (Route.AUDIT, Kind.BATCH),
    "prompt": (Route.AUDIT, Kind.PROMPT),
    "turn_end": (Route.AUDIT, Kind.TURN_END),
    "session_start": (Route.AUDIT, Kind.SESSION_START),
    "session_end": (Route.AUDIT, Kind.SESSION_END),
    "subagent_stop": (Route.AUDIT, Kind.SUBAGENT_STOP),
    "subagent_start": (Route.AUDIT, Kind.AUDIT),
    "audit": (Route.AUDIT, Kind.AUDIT),
}

SURFACES: Final[dict[str, frozenset[Surface]]] = {
    "shell": frozenset({Surface.SHELL}),
    "file-read": frozenset({Surface.READ}),
    "file-write": frozenset({Surface.WRITE}),
    "file-edit": frozenset({Surface.EDIT}),
    "mcp": frozenset({Surface.MCP}),
    "skills": frozenset({Surface.SKILL}),
    "generic": frozenset({Surface.GENERIC, Surface.DELEGATE, Surface.FETCH, Surface.SEARCH}),
}

OUTCOMES: Final = {
    "success": Outcome.SUCCEEDED,
    "failure": Outcome.FAILED,
    "cancelled": Outcome.CANCELLED,
    "denied": Outcome.DENIED,
    "unknown": Outcome.UNKNOWN,
    None: None,
}

_NO_FLAG: Final = "a batch tells how its calls ended by wording alone; it closes ids and proves nothing"
_DOUBLE: Final = "one payload can't show that its id was used twice: that is for the ledger to see"
_EXPANSION: Final = "an expansion comes beside the prompt itself and bounds no turn"
_CONFIG: Final = "a change of settings has a kind of its own: it can be refused"

# (what differs, what the reader says) and why the index is not followed there.
EXCEPTIONS: Final[dict[str, tuple[str, Any, str]]] = {
    "batch_invalid_edit_not_found.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_write_unread.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_bash_missing_arg.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_bash_unknown_arg.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_bash_wrong_type.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_bash_unparsed.json": ("outcome", None, _NO_FLAG),
    "batch_invalid_unknown_tool.json": ("outcome", None, _NO_FLAG),
    "batch_hook_denied.json": ("outcome", None, _NO_FLAG),
    "batch_user_denied.json": ("outcome", None, _NO_FLAG),
    "batch_rule_denied.json": ("outcome", None, _NO_FLAG),
    "post_dup_id_a.json": ("outcome", Outcome.SUCCEEDED, _DOUBLE),
    "post_dup_id_b.json": ("outcome", Outcome.SUCCEEDED, _DOUBLE),
    "prompt_expansion_slash.json": ("kind", (Route.AUDIT, Kind.AUDIT), _EXPANSION),
    "config_change_user.json": ("kind", (Route.AUDIT, Kind.CONFIG_CHANGE), _CONFIG),
    "config_change_local.json": ("kind", (Route.AUDIT, Kind.CONFIG_CHANGE), _CONFIG),
}


def _rows(index: Path, folder: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    if index.is_file():
        for row in json.loads(index.read_bytes())["payloads"]:
            if row["connector"] == "claudecode":
                yield folder / Path(row["file"]).name, row


ROWS: Final = [*_rows(LIVE / "index.json", LIVE), *_rows(WRITTEN / "index.json", WRITTEN / "claudecode")]
LIVE_PATHS: Final = [path for path, _ in ROWS if path.parent == LIVE]


def _event(path: Path) -> HookEvent:
    return read(path.read_bytes(), "")


@needs_shared_data
@pytest.mark.parametrize(("path", "row"), ROWS, ids=[f"{path.parent.name}/{path.stem}" for path, _ in ROWS])
def test_a_payload_reads_as_the_index_of_its_corpus_says(path: Path, row: dict[str, Any]) -> None:
    expected = {
        "name": row["event"],
        "session": row["session_id"],
        "id": row.get("call_id", ""),
        "kind": KINDS[row["kind"]],
        "outcome": OUTCOMES[row.get("expected_outcome")],
    }
    if path.name in EXCEPTIONS:
        what, value, _ = EXCEPTIONS[path.name]
        expected[what] = value

    event = _event(path)

    assert {
        "name": event.event.name,
        "session": event.session,
        "id": event.call.id if event.call is not None else "",
        "kind": (event.event.route, event.event.kind),
        "outcome": event.outcome,
    } == expected
    if "agent_id" in row:
        assert event.agent == row["agent_id"]
    if "surface" in row:
        assert event.call is not None
        assert event.call.surface in SURFACES[row["surface"]]
        assert event.call.surface is Surface.MCP or event.call.unknown_keys == ()


@needs_shared_data
def test_both_corpora_are_read_whole_and_every_exception_is_of_use() -> None:
    stems = {path for path, _ in ROWS}

    assert len([path for path in stems if path.parent == LIVE]) == 134
    assert stems == {*LIVE.glob("*.json"), *(WRITTEN / "claudecode").glob("*.json")} - {LIVE / "index.json"}
    assert EXCEPTIONS.keys() <= {path.name for path in stems}


@needs_shared_data
def test_a_live_result_has_the_input_digest_of_its_proposal_unless_it_was_rewritten() -> None:
    events = [_event(path) for path in LIVE_PATHS]
    proposals: dict[tuple[str, str, str], set[bytes]] = {}
    for event in events:
        if event.call is not None and event.event.route is Route.ACTION:
            key = (event.session, event.agent, event.call.id)
            proposals.setdefault(key, set()).add(event.call.input_digest)
    joined = [
        event.call.input_digest in proposals[event.session, event.agent, event.call.id]
        for event in events
        if event.call is not None
        and event.event.route is Route.RESULT
        and (event.session, event.agent, event.call.id) in proposals
    ]

    assert len(joined) > 20
    assert all(joined)


@needs_shared_data
def test_no_two_live_payloads_have_the_same_fingerprint() -> None:
    assert len({_event(path).fingerprint for path in LIVE_PATHS}) == len(LIVE_PATHS)


@needs_shared_data
@pytest.mark.parametrize("path", [path for path, _ in ROWS], ids=lambda path: path.stem)
def test_a_payload_cut_short_is_never_taken_for_a_harmless_one_when_it_proposes(path: Path) -> None:
    payload = path.read_bytes().rstrip()
    event = CONTRACT.event(json.loads(payload)["hook_event_name"])
    assert event is not None
    named = payload.index(b'"hook_event_name"') + len(b'"hook_event_name":""') + len(event.name)

    guesses = {guess_event(payload[:end], "") for end in range(named + 1, len(payload), 97)}

    if event.blockable:
        assert guesses <= {None}
    else:
        assert guesses <= {event, None}
