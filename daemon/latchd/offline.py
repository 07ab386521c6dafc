"""Facts and verdicts for lines of JSON, without a daemon: deterministic, no state, no disk.

Used by `latchctl facts` and `latchctl check`. A line that can't be judged is answered with an
``error``; it never stops the lines after it.
"""

from __future__ import annotations

import json
from typing import Any, Final

import msgspec

from latch_contracts.canonical import digest
from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Event, Kind, Route, Surface
from latch_contracts.errors import ContractError
from latch_contracts.events import Call, HookEvent
from latch_contracts.facts import ActionFacts
from latch_contracts.strict_json import as_object
from latch_contracts.verdict import Finding
from latchd.guard.floor import canonical
from latchd.guard.subject import Subject
from latchd.guard.walk import judge
from latchd.policy import Policy
from latchd.rules.generation import Generation
from latchd.tool_facts import facts_of

CWD: Final = "/home/dev/project"
HOME: Final = "/home/dev"

_PROPOSAL: Final = Event("offline", Route.DIRECT, Kind.PROPOSAL, blockable=True)
_SURFACES: Final = {
    "shell": Surface.SHELL,
    "read": Surface.READ,
    "write": Surface.WRITE,
    "edit": Surface.EDIT,
    "patch": Surface.PATCH,
    "search": Surface.SEARCH,
    "fetch": Surface.FETCH,
}
_PATH_ROLES: Final = (
    "file_path",
    "path",
    "notebook_path",
    "filePath",
    "absolute_path",
    "AbsolutePath",
    "target_file",
    "filename",
)
_COMMAND_ROLES: Final = ("command", "cmd", "script", "CommandLine")
_NO_PATH_NEEDED: Final = frozenset((Surface.MCP, Surface.GENERIC, Surface.SHELL, Surface.FETCH))


class RowError(Exception):
    """A line that can't be judged; the text says why."""


def facts_line(row: object) -> dict[str, Any]:
    """The facts of one line, as JSON members; ``error`` instead where there are none. Never raises."""
    try:
        members, event, cwd, home = _read(row, "")
        facts = _facts(event, cwd, home)
    except RowError as error:
        return _error(row, str(error))
    return {
        "id": members.get("id"),
        "status": facts.status.value,
        "issues": [issue.value for issue in facts.issues],
        "commands": [_command(command) for command in facts.commands],
        "paths": [msgspec.to_builtins(path) for path in facts.paths],
        "network": [msgspec.to_builtins(contact) for contact in facts.network],
        "flows": [msgspec.to_builtins(flow) for flow in facts.flows],
        "enforcement_eligible": facts.enforcement_eligible,
    }


def check_line(
    row: object, policy: Policy, connector: str = "", rules: Generation | None = None
) -> dict[str, Any]:
    """The verdict on one line, as JSON members; ``error`` instead where there is none. Never raises.

    ``rules`` judge; without any those of this release. ``rules_evaluated`` counts the ones that were asked.
    """
    try:
        members, event, cwd, home = _read(row, connector)
        facts = _facts(event, cwd, home)
        subject = Subject(event=event, facts=facts, files={}, policy=policy, rules=rules)
        verdict = judge(subject)
    except RowError as error:
        return _error(row, str(error))
    return {
        "id": members.get("id"),
        "verdict": verdict.action.value,
        "rule": verdict.rule,
        "reason": verdict.reason,
        "findings": _findings(verdict.findings),
        "status": facts.status.value,
        "rules_evaluated": subject.work.rules,
        **({"notes": _findings(verdict.notes)} if verdict.notes else {}),
    }


def subject_of(row: object, policy: Policy, connector: str = "", rules: Generation | None = None) -> Subject:
    """What one line asks to be judged. Raises RowError."""
    _, event, cwd, home = _read(row, connector)
    return Subject(event=event, facts=_facts(event, cwd, home), files={}, policy=policy, rules=rules)


def _facts(event: HookEvent, cwd: str, home: str) -> ActionFacts:
    if event.call is None:
        raise RowError("`event` carries no tool call")
    return facts_of(event.call, cwd=cwd, home=home)


def _command(command: Any) -> dict[str, Any]:
    """A command with the members that readers look for first always present."""
    found: dict[str, Any] = msgspec.to_builtins(command)
    return {
        "id": command.id,
        "program": command.program,
        "argv": list(command.argv),
        "reach": command.reach.value,
        "effect": command.effect.value,
        "operations": [operation.value for operation in command.operations],
        "grammar": command.grammar.value,
        **found,
    }


def _findings(found: tuple[Finding, ...]) -> list[dict[str, str]]:
    return [
        {
            "rule": finding.rule,
            "severity": finding.severity.value,
            "route": finding.route.value,
            "disposition": finding.disposition.value,
        }
        for finding in found
    ]


def _read(row: object, connector: str) -> tuple[dict[str, Any], HookEvent, str, str]:
    members = as_object(row)
    if members is None:
        raise RowError("the line is not a JSON object")
    cwd = _text(members, "cwd", CWD)
    home = _text(members, "home", HOME)
    if "event" in members:
        return (
            members,
            _hooked(members, _text(members, "connector", connector)),
            _payload_cwd(members, cwd),
            home,
        )
    return members, _made(members, cwd, _text(members, "connector", connector)), cwd, home


def _payload_cwd(members: dict[str, Any], default: str) -> str:
    """The payload's own directory, where the line gives none."""
    event = as_object(members.get("event"))
    if "cwd" not in members and event is not None:
        found = event.get("cwd")
        if isinstance(found, str) and found.startswith("/"):
            return found
    return default


def _text(members: dict[str, Any], key: str, default: str) -> str:
    value = members.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise RowError(f"`{key}` is not text")
    return value


def _hooked(members: dict[str, Any], connector: str) -> HookEvent:
    found = CONNECTORS.get(connector.replace("-", "").replace("_", "") or "claudecode")
    if found is None:
        raise RowError(f"`{connector}` is no connector of this build")
    value = members["event"]
    payload = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    try:
        return found.read(payload.encode("utf-8", "surrogatepass"), "")
    except ContractError as error:
        raise RowError(str(error)) from None


def _made(members: dict[str, Any], cwd: str, connector: str) -> HookEvent:
    """A proposal from ``command``, or from ``tool`` and ``args``."""
    arguments: dict[str, Any] = {}
    given = members.get("args")
    if given is not None:
        found = as_object(given)
        if found is None:
            raise RowError("`args` is not an object")
        arguments = dict(found)
    tool = _text(members, "tool", "Bash")
    if _text(members, "dialect", "") == "powershell" and "tool" not in members:
        tool = "PowerShell"
    if "command" in members:
        arguments = {**arguments, "command": members["command"]}
    elif "tool" not in members:
        raise RowError("neither `command`, `tool` nor `event` is given")
    call = _call(tool, arguments, connector)
    return HookEvent(
        connector=connector,
        event=_PROPOSAL,
        session="offline",
        agent="",
        turn="",
        cwd=cwd,
        fingerprint=call.input_digest,
        call=call,
    )


def _call(tool: str, arguments: dict[str, Any], connector: str) -> Call:
    known = CONNECTORS.get(connector)
    native = known.contract.tool(tool) if known else None
    surface = native.surface if native else _SURFACES.get(canonical(tool), Surface.GENERIC)
    if surface is Surface.GENERIC and tool.startswith("mcp__"):
        surface = Surface.MCP
    command = next((arguments[key] for key in _COMMAND_ROLES if isinstance(arguments.get(key), str)), None)
    paths = tuple(
        arguments[key] for key in _PATH_ROLES if isinstance(arguments.get(key), str) and arguments[key]
    )
    url = arguments.get("url")
    return Call(
        id="",
        tool=tool,
        surface=surface,
        arguments=arguments,
        input_digest=digest([tool, arguments]),
        command=command if surface is Surface.SHELL else None,
        paths=() if surface in _NO_PATH_NEEDED else paths[:1],
        urls=(url,) if surface is Surface.FETCH and isinstance(url, str) and url else (),
    )


def _error(row: object, why: str) -> dict[str, Any]:
    members = as_object(row)
    return {"id": None if members is None else members.get("id"), "error": why}
