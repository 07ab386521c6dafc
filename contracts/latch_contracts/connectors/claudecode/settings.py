"""Our handlers in a Claude Code settings file, and what in such a file would silently keep them from running.

Pure: the file's bytes in, sentences out. Claude Code drops a whole settings file for one handler it
can't validate and tells nobody, so a file is read here as it reads it, and stricter where unsure.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, TypeGuard

from latch_contracts import strict_json
from latch_contracts.connectors.claudecode.contract import CONTRACT
from latch_contracts.contract import Route, parse_version
from latch_contracts.errors import BadPayload
from latch_contracts.strict_json import as_array, as_object

# Events whose handlers say nothing that anything here reads are not registered. WorktreeCreate must
# never be: a handler there replaces the agent's own way to make one.
REGISTERED: Final = (
    "PreToolUse",
    "PreSkillShellCommand",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionDenied",
    "PostToolBatch",
    "UserPromptSubmit",
    "Stop",
    "StopFailure",
    "SessionStart",
    "SessionEnd",
    "SubagentStart",
    "SubagentStop",
    "ConfigChange",
    "CwdChanged",
)

_MATCHED: Final = frozenset(
    {
        "PreToolUse",
        "PreSkillShellCommand",
        "PermissionRequest",
        "PostToolUse",
        "PostToolUseFailure",
        "PermissionDenied",
    }
)

TIMEOUT: Final = 30  # seconds; without one Claude Code waits 600
SESSION_END_TIMEOUT: Final = 10  # seconds; without one Claude Code kills the handler after 1.5
MIN_TIMEOUT: Final = 6  # seconds; the shim's own longest wait is 5 and must end first

# The changelog up to 2.1.240 knows neither `onFailure` nor PreSkillShellCommand; 2.1.332 does.
LAST_OLD_VERSION: Final = (2, 1, 240)
_NOT_IN_OLD: Final = frozenset({"PreSkillShellCommand"})

_TYPES: Final = frozenset({"command", "prompt", "agent", "http", "mcp_tool"})
_ON_FAILURE: Final = frozenset({"continue", "block"})
_MODES: Final = frozenset(
    {"default", "manual", "acceptEdits", "bypassPermissions", "plan", "dontAsk", "auto"}
)
_MATCHES_ALL: Final = (None, "", "*", ".*")

_SWITCHES: Final = (b"disableAllHooks", b"allowManagedHooksOnly", b"CLAUDE_CODE_SIMPLE")

_Handler = dict[str, Any]


def handler(line: str, event: str = "PreToolUse", agent_version: str = "") -> dict[str, Any]:
    """The handler that is installed on one event for the hook line ``line``."""
    made: _Handler = {
        "type": "command",
        "command": line,
        "timeout": SESSION_END_TIMEOUT if event == "SessionEnd" else TIMEOUT,
    }
    if _must_block(event, agent_version):
        made["onFailure"] = "block"
    return made


def groups(line: str, agent_version: str = "") -> dict[str, dict[str, Any]]:
    """The matcher group to add under ``hooks``, by event, in the order of REGISTERED."""
    return {
        event: ({"matcher": "*"} if event in _MATCHED else {})
        | {"hooks": [handler(line, event, agent_version)]}
        for event in registered(agent_version)
    }


def registered(agent_version: str = "") -> tuple[str, ...]:
    """The events that are registered with this version; an unknown version counts as a new one."""
    return tuple(event for event in REGISTERED if not (_is_old(agent_version) and event in _NOT_IN_OLD))


def hook_problems(settings: bytes, line: str, agent_version: str = "") -> tuple[str, ...]:
    """Why our handlers would not all run if this were the settings file that holds them; () if they would."""
    try:
        members = strict_json.loads(settings)
    except BadPayload as error:
        return (f"the file can't be read: {error}",)
    return (*_switches(members), *_drops(members), *_handler_problems(members, line, agent_version))


def switch_problems(settings: bytes) -> tuple[str, ...]:
    """Why another settings file (a project's, a local one) would switch our handlers off; () if it wouldn't.

    Only what the strict reader takes is vouched for: any other file that names a switch counts as one
    that is on, since the agent may read it (of two equal keys it takes the last). A file that names none
    is none of ours: settings of skills come here too, and they are no JSON. An escape could hide a name.
    """
    try:
        members = strict_json.loads(settings)
    except BadPayload as error:
        named = any(switch in settings for switch in _SWITCHES) or b"\\u" in settings
        return (f"the file can't be read: {error}",) if named else ()
    found = tuple(_switches(members))
    if members.get("allowManagedHooksOnly", False) is not False:
        found += ("`allowManagedHooksOnly` leaves only the hooks of managed settings",)
    return found


def _switches(members: dict[str, Any]) -> Iterator[str]:
    if members.get("disableAllHooks", False) is not False:
        yield "`disableAllHooks` switches every hook off"
    environment = as_object(members.get("env")) or {}
    if environment.get("CLAUDE_CODE_SIMPLE") not in (None, "", "0", "false"):
        yield "`env.CLAUDE_CODE_SIMPLE` switches every hook off"


def _drops(members: dict[str, Any]) -> Iterator[str]:
    """Faults for which Claude Code drops the whole file, whoever's handler they are in."""
    permissions = as_object(members.get("permissions", {}))
    if permissions is None:
        yield "`permissions` is not an object: the whole file may be dropped"
    elif "defaultMode" in permissions and not _is_word(permissions["defaultMode"], _MODES):
        yield "`permissions.defaultMode` is no known mode: the whole file is dropped"
    if as_object(members.get("hooks", {})) is None:
        yield "`hooks` is not an object: the whole file may be dropped"
    for event, position, found in _handlers(members):
        where = f"handler {position} of `{event}`"
        if not _is_word(found.get("type"), _TYPES):
            yield f"{where} has no known `type`: the whole file is dropped"
        elif found["type"] == "command" and not isinstance(found.get("command"), str):
            yield f"{where} has no `command`: the whole file may be dropped"
        if "timeout" in found and not _is_positive_number(found["timeout"]):
            yield f"{where} has a `timeout` that is no number above 0: the whole file is dropped"
        if "onFailure" in found and not _is_word(found["onFailure"], _ON_FAILURE):
            yield f"{where} has an unknown `onFailure`: the whole file is dropped"


def _handler_problems(members: dict[str, Any], line: str, agent_version: str) -> Iterator[str]:
    missing: list[str] = []
    for event in registered(agent_version):
        ours = [
            (group, found)
            for group, found in _grouped(members, event)
            if found.get("type") == "command" and found.get("command") == line
        ]
        if not ours:
            missing.append(event)
            continue
        # Another of our handlers on the same event does no harm, so the best one counts.
        faults = min((tuple(_narrowings(event, *one, agent_version)) for one in ours), key=len)
        yield from (f"the latchd handler of `{event}` {fault}" for fault in faults)
    if missing:
        yield "no latchd handler on " + ", ".join(f"`{event}`" for event in missing)


def _narrowings(event: str, group: Mapping[str, Any], found: _Handler, agent_version: str) -> Iterator[str]:
    """What keeps a handler of ours from running, or its answer from being obeyed."""
    if group.get("matcher") not in _MATCHES_ALL:
        yield "has a `matcher` that leaves calls out"
    if found.get("async", False) is not False:
        yield "is `async`: its answer is ignored"
    for key in ("if", "once"):
        if found.get(key) not in (None, False):
            yield f"has `{key}`: it does not run every time"
    if found.get("args") is not None:
        yield "has `args`: the hook line would not be run by a shell"
    timeout = found.get("timeout")
    if _is_positive_number(timeout) and timeout < MIN_TIMEOUT:
        yield f"has a `timeout` under {MIN_TIMEOUT} seconds: a late answer lets the call run"
    if event == "SessionEnd" and timeout is None:
        yield "has no `timeout`: it is killed after 1.5 seconds"
    if _must_block(event, agent_version) and found.get("onFailure") != "block":
        yield 'has no `onFailure: "block"`: a hook that fails lets the call run'


def _must_block(event: str, agent_version: str) -> bool:
    """Whether a failing hook has to stop the call: refusable tool events, in versions that know how."""
    listed = CONTRACT.event(event)
    refusable = listed is not None and listed.blockable and listed.route in (Route.ACTION, Route.DIRECT)
    return refusable and not _is_old(agent_version)


def _is_old(agent_version: str) -> bool:
    version = parse_version(agent_version)
    return version is not None and version <= LAST_OLD_VERSION


def _handlers(members: dict[str, Any]) -> Iterator[tuple[str, int, _Handler]]:
    """Every handler of every known event (an unknown event is ignored alone), counted per event from 1."""
    for event in as_object(members.get("hooks")) or {}:
        if CONTRACT.event(event) is not None:
            for position, (_, found) in enumerate(_grouped(members, event), start=1):
                yield event, position, found


def _grouped(members: dict[str, Any], event: str) -> Iterator[tuple[Mapping[str, Any], _Handler]]:
    hooks = as_object(members.get("hooks")) or {}
    for group in map(as_object, as_array(hooks.get(event)) or []):
        for found in map(as_object, as_array((group or {}).get("hooks")) or []):
            if group is not None and found is not None:
                yield group, found


def _is_word(value: object, words: frozenset[str]) -> bool:
    return isinstance(value, str) and value in words


def _is_positive_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float) and not isinstance(value, bool) and value > 0
