"""The person's way out, through whole hook calls: one refused call passes once, and nothing else does."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine_bench import Bench, only
from latch_contracts.outcome import State
from latch_contracts.records import AllowanceRecord, DenialRecord, Record, VerdictRecord
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Allow, Allowed
from latchd.allowances import GRANT_MS, REFUSAL_MS, WRONG_PER_MINUTE, Answer
from latchd.hook_calls import Handled
from latchd.policy import parse
from latchd.store.errors import StoreError

REFUSED = "rm -rf /opt/data"
RULE = "fs.delete-outside"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def allow(bench: Bench, code: str) -> Allowed:
    return bench.engine.allow(Allow(VERSION, code, "")).answer


def aside(handled: Handled) -> str:
    """What the agent shows the person beside a refusal, "" for nothing."""
    told: str = json.loads(handled.reply.stdout or b"{}").get("systemMessage", "")
    return told


def code(handled: Handled) -> str:
    """The code in it."""
    found = re.search(r"allow ([0-9A-Z]{4}-[0-9A-Z]{4})`", aside(handled))
    assert found is not None, handled.reply
    return found[1]


def passes(handled: Handled) -> bool:
    return handled.reply.exit_code == 0 and handled.reply.stdout == b""


def rule(handled: Handled) -> str | None:
    return only(handled, VerdictRecord).rule


def granted(bench: Bench, command: str = REFUSED, call: str = "c1", **members: Any) -> None:
    assert allow(bench, code(bench.pre(command, call, **members))).why == "allowed"


def test_a_code_lets_the_same_call_pass_once(bench: Bench) -> None:
    first = bench.pre(REFUSED, "c1")
    told = bench.engine.allow(Allow(VERSION, code(first), ""))
    second, third = bench.pre(REFUSED, "c2"), bench.pre(REFUSED, "c3")

    refusal, record = only(first, VerdictRecord), told.answer.record
    assert record is not None
    assert told.records == [record]
    assert record == AllowanceRecord(
        seq=3,
        at_ms=bench.clock.wall_ms(),
        connector="claudecode",
        event="PreToolUse",
        session="s1",
        call="c1",
        session_key=refusal.session_key,
        call_key=refusal.call_key,
        rule=RULE,
        refused=refusal.seq,
        until_ms=bench.clock.wall_ms() + GRANT_MS,
        tool="Bash",
        head=REFUSED,
    )
    assert [passes(one) for one in (first, second, third)] == [False, True, False]
    passed = only(second, VerdictRecord)
    assert (passed.action, passed.rule, passed.state) == (Action.ALLOW, None, State.PENDING)
    assert passed.note == f"allowed by the person, record {record.seq}"
    assert {(one.rule, one.disposition.value) for one in passed.findings} == {(RULE, "detect")}
    assert bench.states("c2") == [("pending", False)]


def test_the_call_that_passed_is_followed_like_any_other(bench: Bench) -> None:
    granted(bench)
    bench.pre(REFUSED, "c2")
    bench.post(REFUSED, "c2")

    assert bench.states("c2") == [("succeeded", True)]


def test_the_model_is_never_told_the_code(bench: Bench) -> None:
    handled = bench.pre(REFUSED)
    told = code(handled)
    said = json.loads(handled.reply.stdout)

    assert told not in json.dumps(said["hookSpecificOutput"])
    assert told.encode() not in handled.reply.stderr


def test_the_code_is_in_no_file_and_no_published_record(bench: Bench) -> None:
    handled = bench.pre(REFUSED)
    told = code(handled)
    allow(bench, told)
    bench.pre(REFUSED, "c2")
    bench.engine.checkpoint()

    held = b"".join(path.read_bytes() for path in bench.root.rglob("*") if path.is_file())
    assert told.encode() not in held
    assert [one for one in handled.records if isinstance(one, VerdictRecord) and one.code] == []


def test_another_wording_of_the_same_call_passes(bench: Bench) -> None:
    granted(bench, tool_input={"command": REFUSED, "description": "Remove the data", "timeout": 9})

    assert passes(bench.pre(REFUSED, "c2"))


OTHERS: list[dict[str, Any]] = [
    {"command": "rm -rf /opt/other"},
    {"command": f"{REFUSED} "},
    {"command": REFUSED, "session_id": "s2"},
    {"command": REFUSED, "cwd": "/srv"},
]


@pytest.mark.parametrize("other", OTHERS)
def test_nothing_else_passes_by_it(bench: Bench, other: dict[str, Any]) -> None:
    granted(bench)

    assert not passes(bench.pre(call="c2", **other))
    assert passes(bench.pre(REFUSED, "c3"))


def test_a_subagent_of_the_session_may_do_it_in_its_place(bench: Bench) -> None:
    granted(bench)

    assert passes(bench.pre(REFUSED, "c2", agent_id="a1"))
    assert not passes(bench.pre(REFUSED, "c3"))


@pytest.mark.parametrize(
    "command",
    ["latchctl allow K7QM-2XRD", "pkill latchd", "echo '{}' > ~/.claude/settings.json", " "],
)
def test_the_floor_and_self_protection_have_no_code(bench: Bench, command: str) -> None:
    handled = bench.pre(command)

    assert (handled.reply.exit_code, aside(handled)) == (2, "")
    assert bench.engine.with_codes(handled.records) == handled.records


def test_a_failing_analyzer_has_no_code(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("x")

    monkeypatch.setattr("latchd.judging.facts_of", fail)
    handled = bench.pre(REFUSED)

    assert (handled.reply.exit_code, aside(handled)) == (2, "")


def test_leave_for_one_rule_leaves_the_others_standing(bench: Bench) -> None:
    """Each rule that refuses the call needs leave of its own; then it passes once."""
    command = f"{REFUSED}; git reset --hard"
    rules: list[str | None] = []
    for number in range(4):
        handled = bench.pre(command, f"c{number}")
        rules.append(rule(handled))
        if passes(handled):
            break
        allow(bench, code(handled))

    assert rules == [RULE, "git.discard-work", None]
    assert not passes(bench.pre(command, "c9"))


def test_leave_never_covers_self_protection_in_the_same_call(bench: Bench, tmp_path: Path) -> None:
    """What the allowed rule hid before does not pass behind it."""
    script = bench.project / "clean.sh"
    script.write_text("rm -rf /opt/data\n")
    granted(bench, "sh clean.sh")
    script.write_text("rm -rf /opt/data\npkill latchd\n")
    handled = bench.pre("sh clean.sh", "c2")

    assert (rule(handled), aside(handled)) == ("self.stop", "")


def test_a_script_that_was_allowed_passes_once(bench: Bench) -> None:
    (bench.project / "clean.sh").write_text("rm -rf /opt/data\n")
    granted(bench, "sh clean.sh")

    assert [passes(bench.pre("sh clean.sh", f"c{number}")) for number in (2, 3)] == [True, False]


def test_a_chain_that_was_allowed_is_told_and_passes_once(bench: Bench) -> None:
    bench.pre("sudo -l", "c1")
    bench.post("sudo -l", "c1")
    granted(bench, "sudo -i", "c2")
    passed, again = (bench.pre("sudo -i", f"c{number}") for number in (3, 4))

    chain = "chain.privilege-discovery-then-elevation"
    assert [(rule(one), passes(one)) for one in (passed, again)] == [(None, True), (chain, False)]
    found = [(one.rule, one.disposition.value) for one in only(passed, VerdictRecord).findings]
    assert (chain, "detect") in found


def test_a_question_about_the_call_that_passed_is_left_to_the_person(bench: Bench) -> None:
    """Claude Code asks its own permission question after PreToolUse, for the very same call."""
    granted(bench)
    passed = bench.pre(REFUSED, "c2")
    question = bench.send("PermissionRequest", tool_name="Bash", tool_input={"command": REFUSED})
    again = bench.pre(REFUSED, "c3")

    assert [passes(one) for one in (passed, question, again)] == [True, True, False]


def test_a_question_uses_nothing_up(bench: Bench) -> None:
    granted(bench)
    bench.send("PermissionRequest", tool_name="Bash", tool_input={"command": REFUSED})

    assert passes(bench.pre(REFUSED, "c2"))


def test_a_call_without_an_id_has_a_code_too(bench: Bench) -> None:
    handled = bench.pre(REFUSED, tool_use_id="")
    allow(bench, code(handled))

    assert [passes(bench.pre(REFUSED, tool_use_id="")) for _ in range(2)] == [True, False]


def test_an_agent_of_an_unknown_version_has_codes_too(bench: Bench) -> None:
    allow(bench, code(bench.pre(REFUSED, "c1", version="1.0.0")))

    assert [passes(bench.pre(REFUSED, f"c{number}", version="1.0.0")) for number in (2, 3)] == [True, False]


def test_a_probe_has_no_code_and_uses_nothing_up(bench: Bench) -> None:
    asked = bench.pre(REFUSED, "c0", probe=True)
    granted(bench)
    probe = bench.pre(REFUSED, "c2", probe=True)

    assert [aside(asked), aside(probe)] == ["", ""]
    assert not passes(probe)
    assert passes(bench.pre(REFUSED, "c3"))


def test_the_same_proposal_again_stays_refused_and_uses_nothing_up(bench: Bench) -> None:
    granted(bench)

    assert not passes(bench.pre(REFUSED, "c1"))
    assert passes(bench.pre(REFUSED, "c2"))


def test_a_code_is_over_after_its_time(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))
    bench.clock.advance_ms(REFUSAL_MS)

    assert allow(bench, told) == Allowed(VERSION, Answer.OVER)
    assert not passes(bench.pre(REFUSED, "c2"))


def test_leave_is_over_after_its_time_though_nobody_sweeps(bench: Bench) -> None:
    granted(bench)
    bench.clock.advance_ms(GRANT_MS)

    assert not passes(bench.pre(REFUSED, "c2"))


def test_a_clock_that_was_set_back_gives_no_time(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))
    bench.clock.reboot()
    bench.clock.step_wall_ms(-1000)

    assert allow(bench, told) == Allowed(VERSION, Answer.OVER)


def test_a_code_is_taken_once(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))

    assert [allow(bench, told).why for _ in range(2)] == ["allowed", Answer.USED]
    bench.pre(REFUSED, "c2")
    assert allow(bench, told).why == Answer.USED


def test_a_restart_loses_neither_code_nor_leave(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))
    bench.restart()
    assert allow(bench, told).why == "allowed"
    bench.restart()

    assert [passes(bench.pre(REFUSED, f"c{number}")) for number in (2, 3)] == [True, False]
    bench.restart()
    assert not passes(bench.pre(REFUSED, "c4"))


def test_another_policy_ends_codes_and_leave(bench: Bench) -> None:
    first = code(bench.pre(REFUSED, "c1"))
    granted(bench, REFUSED, "c2")
    bench.engine.adopt(parse(b"profile = 'strict'"))

    assert allow(bench, first) == Allowed(VERSION, Answer.CHANGED)
    assert not passes(bench.pre(REFUSED, "c3"))


def test_wrong_codes_are_counted_and_too_many_are_refused_unseen(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))
    wrong = [allow(bench, "0000-0000").why for _ in range(WRONG_PER_MINUTE)]

    assert wrong == [Answer.UNKNOWN] * WRONG_PER_MINUTE
    assert allow(bench, told).why == Answer.TOO_MANY
    bench.clock.advance_ms(60_000)
    assert allow(bench, told).why == "allowed"


def test_the_token_of_the_hook_socket_is_asked_for(bench: Bench) -> None:
    told = code(bench.pre(REFUSED))
    bench.engine.token = "secret"

    assert allow(bench, told).record is None
    assert bench.engine.allow(Allow(VERSION, told, "secret")).answer.why == "allowed"


def test_a_store_that_fails_allows_nothing(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise StoreError("disk I/O error")

    told = code(bench.pre(REFUSED))
    with monkeypatch.context() as failing:
        failing.setattr("latchd.store.allowances.grant", fail)
        refused = allow(bench, told)

    assert refused == Allowed(VERSION, "nothing is allowed, for it can't be recorded: disk I/O error")
    assert not passes(bench.pre(REFUSED, "c2"))
    assert allow(bench, told).why == "allowed"


def test_leave_that_can_not_be_used_up_lets_nothing_pass(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise StoreError("disk I/O error")

    granted(bench)
    with monkeypatch.context() as failing:
        failing.setattr("latchd.store.allowances.use", fail)
        assert not passes(bench.pre(REFUSED, "c2"))

    assert [passes(bench.pre(REFUSED, f"c{number}")) for number in (3, 4)] == [True, False]


def test_who_asks_is_told_the_codes_that_work_now(bench: Bench) -> None:
    first, second = bench.pre(REFUSED, "c1"), bench.pre("rm -rf /opt/other", "c2")
    allow(bench, code(first))
    stored = bench.engine.records_after(0, 100)

    def codes(records: list[Record]) -> dict[str, str]:
        return {one.call: one.code for one in records if isinstance(one, VerdictRecord)}

    assert codes(stored) == {"c1": "", "c2": ""}
    assert codes(bench.engine.with_codes(stored)) == {"c1": "", "c2": code(second)}
    bench.clock.advance_ms(REFUSAL_MS)
    assert bench.engine.with_codes(stored) == stored


def test_a_refusal_that_was_allowed_keeps_its_denial_entry(bench: Bench) -> None:
    first = bench.pre(REFUSED)
    allow(bench, code(first))

    shown = [type(one) for one in bench.engine.show("c1").records]
    assert shown == [VerdictRecord, DenialRecord, AllowanceRecord]
    assert only(first, DenialRecord).rule == RULE


def test_observe_has_no_codes(tmp_path: Path) -> None:
    bench = Bench(tmp_path, b"profile = 'observe'")
    handled = bench.pre(REFUSED)
    bench.engine.close()

    assert passes(handled)
