"""What a tool of another server removes or writes, judged by its name and by the places it is given."""

from __future__ import annotations

from typing import Any

import pytest

from latchd.offline import check_line
from latchd.policy import Policy


def said(tool: str, **args: Any) -> tuple[str, str | None]:
    answer = check_line({"tool": tool, "args": args}, Policy(), "")
    return answer["verdict"], answer.get("rule")


@pytest.mark.parametrize(
    ("tool", "args", "expected"),
    [
        ("mcp__github__delete_repository", {"repo": "x"}, ("ask", "infra.tool-loss")),
        ("mcp__mongodb__drop-collection", {"collection": "x"}, ("ask", "infra.tool-loss")),
        ("mcp__cloud__terminateInstances", {"ids": ["x"]}, ("ask", "infra.tool-loss")),
        ("mcp__github__get_repository", {"repo": "x"}, ("allow", None)),
        ("mcp__memory__delete_entities", {"names": ["x"]}, ("allow", None)),
        ("mcp__delete-me__list_items", {}, ("allow", None)),
    ],
)
def test_a_tool_whose_name_says_that_it_removes_is_asked_about(
    tool: str, args: dict[str, Any], expected: tuple[str, str | None]
) -> None:
    assert said(tool, **args) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/dev/.bashrc", "deny"),
        ("/home/dev/project/.git/hooks/pre-commit", "deny"),
        ("/home/dev/.config/latchd/config.toml", "deny"),
        ("/etc/hosts", "deny"),
        ("/home/dev/other/a.txt", "ask"),
        ("/home/dev/project/src/a.py", "allow"),
        ("src/a.py", "allow"),
    ],
)
def test_a_file_that_a_tool_writes_is_judged_by_its_place(path: str, expected: str) -> None:
    assert said("mcp__filesystem__write_file", path=path, content="x")[0] == expected


def test_a_tool_that_only_reads_may_look_outside_the_project() -> None:
    assert said("mcp__filesystem__read_file", path="/home/dev/other/a.txt") == ("allow", None)
