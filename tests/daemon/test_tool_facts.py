"""Facts of tools that are no shell."""

from __future__ import annotations

from typing import Any

import pytest

from guard_cases import HOME, PROJECT, call
from latch_contracts.contract import Surface
from latch_contracts.facts import Access, ActionFacts, Kind, NetAction, Operation, Scope, Status
from latchd.tool_facts import MAX_PATHS, facts_of


def facts(tool: str, surface: Surface, arguments: dict[str, Any] | None = None, **others: Any) -> ActionFacts:
    return facts_of(call(tool, surface, arguments, **others), cwd=PROJECT, home=HOME)


def paths(found: ActionFacts) -> list[tuple[str, str]]:
    return [(path.access.value, path.resolved) for path in found.paths]


def test_a_shell_call_is_analyzed_as_shell() -> None:
    found = facts("Bash", Surface.SHELL, command="ls a")

    assert [command.program for command in found.commands] == ["ls"]


def test_a_file_tool_is_one_command_with_its_path() -> None:
    found = facts("Read", Surface.READ, paths=("src/a.py",))

    assert (found.tool, found.status) == ("read", Status.COMPLETE)
    assert [(command.kind, command.operations) for command in found.commands] == [
        (Kind.TOOL, (Operation.READ,))
    ]
    assert paths(found) == [("read", f"{PROJECT}/src/a.py")]


@pytest.mark.parametrize(
    ("written", "resolved"),
    [
        ("~/a", "/home/dev/a"),
        ("$HOME/a", "/home/dev/a"),
        ("file:///etc/hosts", "/etc/hosts"),
        ("../a", "/home/dev/a"),
        ("a/./b/", f"{PROJECT}/a/b"),
    ],
)
def test_a_path_is_resolved_however_it_is_spelt(written: str, resolved: str) -> None:
    assert paths(facts("Write", Surface.WRITE, paths=(written,))) == [("write", resolved)]


def test_every_header_of_a_patch_is_a_path_and_a_move_is_two() -> None:
    patch = (
        "*** Begin Patch\n*** Add File: a\n+*** not a header\n*** Update File: b\n*** Move to: c\n"
        "*** Delete File: d\n*** End Patch\n"
    )

    assert paths(facts("apply_patch", Surface.PATCH, {"input": patch})) == [
        ("write", f"{PROJECT}/a"),
        ("write", f"{PROJECT}/b"),
        ("delete", f"{PROJECT}/b"),
        ("write", f"{PROJECT}/c"),
        ("delete", f"{PROJECT}/d"),
    ]


def test_a_unified_diff_names_its_files_too() -> None:
    diff = "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n"

    assert paths(facts("patch", Surface.PATCH, {"diff": diff})) == [("write", f"{PROJECT}/x.py")]


def test_an_unknown_tools_paths_are_found_by_key_and_by_looks_at_any_reasonable_depth() -> None:
    arguments = {"a": [{"file_path": "x"}, {"note": "/etc/passwd"}], "text": "see /etc/passwd", "path": "y"}

    assert paths(facts("mcp__a__b", Surface.MCP, arguments)) == [
        ("read", f"{PROJECT}/x"),
        ("read", "/etc/passwd"),
        ("read", f"{PROJECT}/y"),
    ]


def test_prose_for_another_agent_holds_no_paths() -> None:
    assert facts("Task", Surface.DELEGATE, {"prompt": "/home/dev/.ssh/id_rsa"}).paths == ()


def test_the_number_of_paths_is_bounded() -> None:
    found = facts("mcp__a__b", Surface.MCP, {"paths": [f"/x/{number}" for number in range(5000)]})

    assert len(found.paths) == MAX_PATHS


def test_a_fetch_speaks_to_its_host() -> None:
    found = facts(
        "WebFetch", Surface.FETCH, {"url": "http://169.254.169.254/x"}, urls=("http://169.254.169.254/x",)
    )

    assert [(contact.action, contact.host, contact.scope) for contact in found.network] == [
        (NetAction.DOWNLOAD, "169.254.169.254", Scope.LINK_LOCAL)
    ]


def test_a_search_reads_its_root_and_what_its_glob_names() -> None:
    found = facts("Grep", Surface.SEARCH, {"pattern": "x", "glob": "*.{py,env}"}, paths=("src",))

    assert [path.value for path in found.paths] == ["src", "src/*.py", "src/*.env"]
    assert all(path.access is Access.READ and path.recursive for path in found.paths)


@pytest.mark.parametrize(
    ("pattern", "looks_in"),
    [("**/.env*", f"{PROJECT}"), ("src/**/*.pem", f"{PROJECT}/src"), ("~/.ssh/*", "/home/dev/.ssh")],
)
def test_a_search_for_names_reads_no_file_that_it_names(pattern: str, looks_in: str) -> None:
    found = facts("Glob", Surface.SEARCH, {"pattern": pattern})

    assert paths(found) == [("read", PROJECT), ("read", looks_in)]


def test_a_sentence_that_begins_with_a_path_is_no_path() -> None:
    prose = {"query": "~/.ssh/config with two keys", "todos": [{"content": "/etc/hosts is written by hand"}]}

    assert paths(facts("Novelty", Surface.GENERIC, prose)) == []
    assert paths(facts("Novelty", Surface.GENERIC, {"query": "~/.ssh/id_rsa", "to": "/a b"})) == [
        ("read", "/home/dev/.ssh/id_rsa"),
        ("read", "/a b"),
    ]


def test_powershell_claims_no_structure() -> None:
    found = facts("PowerShell", Surface.SHELL, command="Get-ChildItem")

    assert (found.status, found.commands) == (Status.UNSUPPORTED, ())


@pytest.mark.parametrize(
    "surface", [Surface.READ, Surface.WRITE, Surface.EDIT, Surface.PATCH, Surface.FETCH, Surface.SHELL]
)
def test_a_missing_argument_is_invalid(surface: Surface) -> None:
    assert facts("Tool", surface).status is Status.INVALID
