"""Ordered chains and final scripts of the shared corpus: pairs that differ in one thing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from corpora import SHARED_DATA, needs_shared_data, rows
from engine_bench import OK, Bench
from latch_contracts.records import VerdictRecord
from latch_contracts.verdict import Action, Disposition

pytestmark = needs_shared_data

CASES = rows("chains-corpus.jsonl") if SHARED_DATA.is_dir() else []
# Our own name of the rule a case is about.
RULES = {
    "chain.permission_denied_then_runtime_bypass": "chain.permission-denied-then-runtime-bypass",
    "chain.privilege_discovery_then_elevation": "chain.privilege-discovery-then-elevation",
    "chain.secret_manager_read_then_egress": "chain.secret-manager-read-then-egress",
    "CMD-RM-RF": "fs.delete-root-or-home",
}


def command_of(step: dict[str, Any], root: Path) -> str:
    if "artifact" not in step:
        return str(step["input"]["command"])
    script = root / step["artifact"]["posix"]["name"]
    script.write_text(step["artifact"]["posix"]["body"], encoding="utf-8")
    return str(step["input_template"]["posix"]).replace("<abs path of artifact>", str(script))


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case_is_seen_and_refused_exactly_as_it_says(case: dict[str, Any], tmp_path: Path) -> None:
    profile = "observe" if case["mode"] == "observe" else case["policy_profile"]
    bench = Bench(tmp_path, f'profile = "{profile}"'.encode())
    commands: dict[str, str] = {}
    last: VerdictRecord | None = None
    for step in case["steps"]:
        members: dict[str, Any] = {"session_id": f"{case['id']}-{step['session']}"}
        if "invocation" in step:
            name = step["invocation"]
            if step["event"] == "PreToolUse":
                commands[name] = command_of(step, tmp_path)
            members |= {
                "tool_name": "Bash",
                "tool_use_id": f"{case['id']}-{name}",
                "tool_input": {"command": commands[name]},
            }
        if step["event"] == "PostToolUse":
            members["tool_response"] = OK | step.get("response", {})
        if step["event"] == "PermissionDenied":
            members["reason"] = "no"
        for record in bench.send(step["event"], **members).records:
            last = record if isinstance(record, VerdictRecord) else last
    bench.engine.close()

    assert last is not None
    rule = RULES[case["target_rule"]]
    found = [finding for finding in last.findings if finding.rule == rule]
    refuses = any(finding.disposition is Disposition.ENFORCEABLE for finding in found)
    assert {
        "target_seen": found != [],
        # another rule may refuse it as well, and is then the one that is named
        "target_blocked": last.action is Action.DENY and refuses,
    } == {key: case["expected"][key] for key in ("target_seen", "target_blocked")}
