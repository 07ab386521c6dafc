"""The fail-closed floor: what must hold before anybody is asked. A fault is a value, never raised."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Contract, Surface
from latch_contracts.facts import Status
from latch_contracts.verdict import Finding, Severity
from latchd.guard.groups import Group
from latchd.guard.subject import Subject
from latchd.policy import Policy

# One name for what agents call by many.
_CANONICAL: Final[Mapping[str, str]] = MappingProxyType(
    {
        name: canonical
        for canonical, names in {
            "shell": "bash shell run_shell_command exec_command execute_command terminal local_shell "
            "powershell monitor",
            "read": "read read_file view view_file open_file cat",
            "write": "write write_file create_file writefile",
            "edit": "edit edit_file replace str_replace multiedit multi_edit notebookedit",
            "patch": "apply_patch patch applypatch",
            "search": "grep glob search ls find list_directory search_file_content rg",
            "fetch": "webfetch web_fetch fetch fetch_url",
        }.items()
        for name in names.split()
    }
)
_SURFACES: Final = frozenset(surface.value for surface in Surface)


def canonical(tool: str) -> str:
    """The one name of a tool, whatever an agent calls it; an unknown name is its own, lower-cased."""
    folded = tool.lower().replace("-", "_")
    return _CANONICAL.get(folded, folded)


def policy_fault(policy: Policy, contract: Contract | None) -> str:
    """Why this policy can't be applied to this agent's tools; "" when it can."""
    if not policy.tools:
        return ""
    if contract is None:
        return "the tools of this agent can't be read, and the policy names some"
    live = {canonical(tool.name) for tool in contract.tools}
    live |= {tool.surface.value for tool in contract.tools}
    for tool in policy.tools:
        if canonical(tool) not in live and not tool.startswith("mcp__"):
            known = ", ".join(sorted(tool.name for tool in contract.tools)[:12])
            name = contract.connector
            return f"the policy names the tool `{tool}`, which {name} does not have; known: {known}, …"
    return ""


def check(subject: Subject) -> Finding | None:
    """The floor's own refusal of one call, or None."""
    connector = CONNECTORS.get(subject.event.connector)
    if fault := policy_fault(subject.policy, connector.contract if connector else None):
        return _finding(
            "floor.policy-tools", f"{fault}. Every call is refused until the person mends the policy"
        )
    call = subject.event.call
    if call is None:
        return _finding("floor.no-call", "the event carries no tool call. Nothing can be judged")
    if call.surface is Surface.SHELL:
        if call.command is None or not call.command.strip():
            return _finding(
                "floor.invalid-call",
                f"`{call.tool[:60]}` needs its command as text. Give one that is not blank",
            )
    elif subject.facts.status is Status.INVALID:
        return _finding(
            "floor.invalid-call",
            f"`{call.tool[:60]}` lacks an argument it needs, or has it in the wrong type. Give it as text",
        )
    return None


def _finding(rule: str, reason: str) -> Finding:
    return Finding(rule=rule, group=Group.FLOOR, severity=Severity.CRITICAL, reason=f"[{rule}]: {reason}.")
