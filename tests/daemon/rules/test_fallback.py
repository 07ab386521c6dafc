"""Where a pattern may be met: in what runs, never in text that is carried."""

from __future__ import annotations

from typing import Any

import pytest

from latchd.offline import subject_of
from latchd.policy import Policy
from latchd.rules import patterns
from latchd.rules.fallback import bound
from rule_cases import given, pack


def met(command: str, pattern: str = "deploytool", **fields: Any) -> list[tuple[int, str]]:
    (rule,) = pack({"pattern": pattern, **fields}).pack.rules
    return list(bound(given(command), rule, patterns.compiled(pattern)))


@pytest.mark.parametrize(
    "command",
    [
        "echo deploytool prod",
        "printf 'deploytool prod\\n' > a",
        "grep -r deploytool .",
        "rg 'deploytool prod'",
        "sed -i s/deploytool/x/ a",
        "awk '/deploytool/' a",
        "cat deploytool.md",
        "logger deploytool",
        "ls # deploytool prod",
        "git commit -m 'run deploytool prod'",
        "cat > notes <<'E'\ndeploytool prod\nE",
        "mytool --help",
    ],
)
def test_text_that_is_only_carried_meets_no_rule_about_commands(command: str) -> None:
    assert met(command) == []


@pytest.mark.parametrize(
    ("command", "segment"),
    [
        ("deploytool prod", 1),
        ("ls && deploytool prod", 2),
        ("sudo deploytool prod", 2),
        ("bash -c 'deploytool prod'", 2),
        ("$(deploytool prod)", 2),
        ("/opt/x/deploytool prod", 1),
        ("if true; then deploytool prod; fi", 2),
    ],
)
def test_a_command_that_runs_meets_it_with_its_segment(command: str, segment: int) -> None:
    assert segment in [found for found, _ in met(command, "^deploytool")]


def test_a_quoted_text_is_looked_into_only_for_a_program_that_the_rule_names() -> None:
    sql = "psql -c 'drop table x'"

    assert met(sql, "drop table") == []
    assert met(sql, "drop table", programs=["psql"]) == [(1, "psql -c drop table x")]
    assert met("git commit -m 'drop table x'", "drop table", programs=["psql"]) == []


def test_a_path_is_met_as_typed_and_as_resolved() -> None:
    assert met("touch ../other/x.lock", r"\.lock$", binds=["path"]) == [(1, "/home/dev/other/x.lock")]
    assert met("touch ../other/x.lock", "^/home/dev/other/", binds=["path"]) == [
        (1, "/home/dev/other/x.lock")
    ]
    assert met("echo x.lock", r"\.lock$", binds=["path"]) == []


def test_a_path_of_another_tool_is_met_too() -> None:
    (rule,) = pack({"pattern": r"\.lock$", "binds": ["path"]}).pack.rules
    subject = subject_of({"tool": "Write", "args": {"file_path": "/home/dev/project/a.lock"}}, Policy())

    assert [target for _, target in bound(subject, rule, patterns.compiled(rule.pattern))] == [
        "/home/dev/project/a.lock"
    ]


def test_a_host_is_met_in_a_contact_and_not_in_other_words() -> None:
    assert met("curl https://paste.example/x", r"paste\.example", binds=["network"]) == [(1, "paste.example")]
    assert met("echo https://paste.example/x", r"paste\.example", binds=["network"]) == []


def test_a_pipeline_is_met_when_each_step_is_proven_to_feed_the_next() -> None:
    assert met("fetchtool x | deploytool -", r"^fetchtool .* \| deploytool", binds=["pipeline"]) == [
        (1, "fetchtool x")
    ]
    assert met("fetchtool x; deploytool -", "fetchtool", binds=["pipeline"]) == []
