"""Who counts as outside, and whose reading is a secret's."""

from __future__ import annotations

import pytest

from latch_contracts.facts import NetAction, NetworkFact, Scope
from latchd.chains.catalogue import NOTHING, Step
from latchd.chains.sources import feeds, is_external, of_program, read_paths
from latchd.shell.facts import analyze


@pytest.mark.parametrize(
    ("host", "scope", "expands", "external"),
    [
        ("drop.example.test", Scope.UNKNOWN, False, True),
        ("203.0.113.7", Scope.PUBLIC, False, True),
        ("$HOST", Scope.UNKNOWN, True, False),
        ("", Scope.UNKNOWN, False, False),
        ("10.0.0.5", Scope.PRIVATE, False, False),
        ("localhost", Scope.LOOPBACK, False, False),
    ],
)
def test_a_peer_is_outside_where_that_is_known(
    host: str, scope: Scope, expands: bool, external: bool
) -> None:
    fact = NetworkFact(1, NetAction.UPLOAD, host=host, scope=scope, expands=expands)

    assert is_external(fact) is external


@pytest.mark.parametrize(
    ("command", "step"),
    [
        ("vault kv get secret/x", Step.SECRET_MANAGER_READ),
        ("gh auth token", NOTHING),
        ("vault status", NOTHING),
    ],
)
def test_only_a_managers_own_reading_is_a_managed_secret(command: str, step: Step) -> None:
    (found,) = analyze(command, cwd="/w", home="/h").commands

    assert of_program(found) == step


@pytest.mark.parametrize(
    ("command", "sources"),
    [("cat < a", ["/w/a"]), ("cat < /dev/null", []), ("echo hi | cat", [""]), ("cat a", [])],
)
def test_a_command_is_fed_by_files_and_by_others_and_not_by_devices(command: str, sources: list[str]) -> None:
    facts = analyze(command, cwd="/w", home="/h")

    assert [flow.source_path for flow in feeds(facts, facts.commands[-1])] == sources


def test_what_is_read_elsewhere_is_no_path_here() -> None:
    facts = analyze("ssh host.test cat k", cwd="/w", home="/h")

    assert [path for command in facts.commands for path in read_paths(facts, command)] == []
