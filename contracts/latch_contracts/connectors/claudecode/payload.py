"""A hook payload of Claude Code as a HookEvent: every field checked before anything is believed.

A payload that can't be read is a BadPayload that names the field; nothing is repaired or guessed.
Call ids are the model's own and unchecked by the agent, so an unusable id is no bad payload: the
call is judged, and joined with nothing.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any, Final

from latch_contracts import strict_json
from latch_contracts.canonical import digest
from latch_contracts.connectors.claudecode.contract import CONTRACT
from latch_contracts.connectors.claudecode.outcomes import outcome
from latch_contracts.connectors.claudecode.texts import texts
from latch_contracts.contract import Event, Kind, Route, Surface, Tool
from latch_contracts.errors import BadPayload, UnknownEvent
from latch_contracts.events import Call, HookEvent
from latch_contracts.strict_json import as_array, as_object

MAX_ID: Final = 512  # bytes; real ids stay under 60
MAX_PATH: Final = 4096  # bytes, the kernel's own limit for one path
MAX_BATCH: Final = 4096  # calls of one model message; real ones stay under 30

_TOOL_KINDS: Final = frozenset({Kind.PROPOSAL, Kind.PERMISSION, Kind.RESULT, Kind.DENIAL})
_PAIRED_ROUTES: Final = frozenset({Route.ACTION, Route.RESULT})

_COMMON: Final = ("session_id", "agent_id", "prompt_id", "cwd")
_TOOL: Final = ("tool_name", "tool_input", "tool_use_id", "mcp_server")

# What makes two payloads of one kind the same event. Kinds that are not listed have no fields that
# the contract reads: there the whole payload counts.
_DECLARED: Final[Mapping[Kind, tuple[str, ...]]] = {
    Kind.PROPOSAL: (*_COMMON, *_TOOL),
    Kind.PERMISSION: (*_COMMON, *_TOOL),
    Kind.RESULT: (*_COMMON, *_TOOL, "tool_response", "error", "is_interrupt"),
    Kind.DENIAL: (*_COMMON, *_TOOL, "reason"),
    Kind.BATCH: (*_COMMON, "tool_calls"),
    Kind.CONFIG_CHANGE: (*_COMMON, "source", "file_path"),
}

# Closed words that a lifecycle record may repeat; anything else an agent says there is not repeated.
_NOTES: Final[Mapping[str, tuple[str, frozenset[str]]]] = {
    "SessionStart": ("source", frozenset({"startup", "resume", "clear", "compact", "fork"})),
    "SessionEnd": ("reason", frozenset({"clear", "resume", "logout", "prompt_input_exit", "other"})),
    "PreCompact": ("trigger", frozenset({"manual", "auto"})),
    "PostCompact": ("trigger", frozenset({"manual", "auto"})),
}


def read(payload: bytes, event_hint: str) -> HookEvent:
    """The event of one payload. Raises BadPayload or UnknownEvent, and nothing else."""
    members = strict_json.loads(payload)
    event = _event(members, event_hint)
    session = _identifier(members, CONTRACT.session_field)
    if not session:
        raise BadPayload(
            CONTRACT.session_field, "is missing" if _absent(members, "session_id") else "is empty"
        )
    call = _call(members, event) if event.kind in _TOOL_KINDS else None
    batch, note = _batch(members) if event.kind is Kind.BATCH else ((), _note(members, event))
    result, why = None, ""
    if call is not None and event.route is Route.RESULT:
        result, why = outcome(event.name, call, CONTRACT.tool(call.tool), members)
    changed = event.kind is Kind.CONFIG_CHANGE
    return HookEvent(
        connector=CONTRACT.connector,
        event=event,
        session=session,
        agent=_identifier(members, CONTRACT.agent_field),
        turn=_identifier(members, CONTRACT.turn_field),
        cwd=_cwd(members),
        fingerprint=_fingerprint(members, event),
        call=call,
        outcome=result,
        outcome_why=why,
        batch=batch,
        config_source=_text(members, "source") if changed else "",
        config_path=_text(members, "file_path") if changed else "",
        note=note,
        texts=texts(event, call, members),
    )


def id_fault(text: str) -> str:
    """Why a text can't be an id that anything is joined by; "" for a usable one. Odd characters are fine."""
    if not text:
        return "is empty"
    if len(text.encode("utf-8")) > MAX_ID:
        return f"is longer than {MAX_ID} bytes"
    if not text.isprintable() and any(unicodedata.category(character) == "Cc" for character in text):
        return "holds control characters"
    if text != text.strip():
        return "begins or ends with a blank"
    return ""


def _event(members: dict[str, Any], event_hint: str) -> Event:
    name = _text(members, "hook_event_name") or event_hint
    if not name:
        raise BadPayload("hook_event_name", "is missing")
    if event_hint and name != event_hint:
        raise BadPayload("hook_event_name", "names another event than the hook line")
    event = CONTRACT.event(name)
    if event is None:
        raise UnknownEvent(f"`{_short(name)}` is no event that the contract of Claude Code lists")
    return event


def _call(members: dict[str, Any], event: Event) -> Call:
    name = _identifier(members, "tool_name")
    if not name:
        raise BadPayload("tool_name", "is missing")
    arguments = as_object(members.get("tool_input"))
    if arguments is None:
        raise BadPayload("tool_input", "is missing" if _absent(members, "tool_input") else "is not an object")
    call_id, fault = _call_id(members, required=event.route in _PAIRED_ROUTES)
    tool = CONTRACT.tool(name)
    server, server_tool = _mcp(members, name)
    surface = Surface.GENERIC
    if tool is not None:
        surface = tool.surface
    elif server or name.startswith(_MCP):
        surface = Surface.MCP
    roles = (tool.command, tool.path, tool.url) if tool is not None else ("", "", "")
    command, path, url = (_argument(arguments, role) for role in roles)
    return Call(
        id=call_id,
        tool=name,
        surface=surface,
        arguments=arguments,
        input_digest=digest([name, arguments]),
        id_fault=fault,
        command=command,
        paths=() if path is None else (path,),
        urls=() if url is None else (url,),
        unknown_keys=tuple(sorted(arguments.keys() - _known_keys(tool))),
        mcp_server=server,
        mcp_tool=server_tool,
    )


def _call_id(members: dict[str, Any], *, required: bool) -> tuple[str, str]:
    """The id to join by, or "" and why there is none."""
    field = CONTRACT.call_id_field
    if _absent(members, field):
        if required:
            raise BadPayload(field, "is missing")
        return "", "is not sent with this event"
    value = members[field]
    if value is None:
        return "", "is null"
    if not isinstance(value, str):
        raise BadPayload(field, "is not a string")
    fault = id_fault(value)
    return ("", fault) if fault else (value, "")


def _known_keys(tool: Tool | None) -> frozenset[str]:
    """The keys a tool is known to take; of a tool without an entry (MCP too) no key is known."""
    if tool is None:
        return frozenset()
    return (tool.benign | tool.launch | {tool.command, tool.path, tool.url}) - {""}


def _argument(arguments: dict[str, Any], role: str) -> str | None:
    value = arguments.get(role) if role else None
    return value if isinstance(value, str) else None


_MCP: Final = "mcp__"


def _mcp(members: dict[str, Any], name: str) -> tuple[str, str]:
    """Server and tool of an MCP call. The tool name has a normalised server; ``mcp_server`` the real one."""
    told = as_object(members.get("mcp_server"))
    if told is None and members.get("mcp_server") is not None:
        raise BadPayload("mcp_server", "is not an object")
    server, _, tool = name.removeprefix(_MCP).partition("__") if name.startswith(_MCP) else ("", "", "")
    if told is None:
        return server, tool
    real = _identifier(told, "name")
    if not real:
        return server, tool
    prefix = f"{_MCP}{_normalised(real)}__"  # a server's own name may hold double underscores too
    return real, name.removeprefix(prefix) if name.startswith(prefix) else (tool or name)


def _normalised(server: str) -> str:
    """As Claude Code writes a server into a tool name: `prj.one two` becomes `prj_one_two`."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "_-") else "_" for c in server)


def _batch(members: dict[str, Any]) -> tuple[tuple[str, ...], str]:
    """The ids a batch closes, once each, and how many of its calls have none."""
    calls = as_array(members.get("tool_calls"))
    if calls is None:
        raise BadPayload("tool_calls", "is missing" if _absent(members, "tool_calls") else "is not an array")
    if len(calls) > MAX_BATCH:
        raise BadPayload("tool_calls", f"lists more than {MAX_BATCH} calls")
    ids: list[str] = []
    for call in calls:
        value = (as_object(call) or {}).get(CONTRACT.call_id_field)
        if isinstance(value, str) and not id_fault(value):
            ids.append(value)
    lost = len(calls) - len(ids)
    return tuple(dict.fromkeys(ids)), f"{lost} of {len(calls)} calls without a usable id" if lost else ""


def _note(members: dict[str, Any], event: Event) -> str:
    field, words = _NOTES.get(event.name, ("", frozenset[str]()))
    value = members.get(field)
    return f"{field} {value}" if isinstance(value, str) and value in words else ""


def _cwd(members: dict[str, Any]) -> str:
    """An absolute directory, or "": a relative one says nothing to a process that runs elsewhere."""
    text = _text(members, "cwd")
    if len(text.encode("utf-8")) > MAX_PATH:
        raise BadPayload("cwd", f"is longer than {MAX_PATH} bytes")
    return text if text.startswith("/") and "\0" not in text else ""


def _fingerprint(members: dict[str, Any], event: Event) -> bytes:
    fields = _DECLARED.get(event.kind)
    declared = members if fields is None else {key: members[key] for key in fields if key in members}
    return digest([CONTRACT.connector, event.name, declared])


def _identifier(members: dict[str, Any], field: str) -> str:
    """A text that names something for good, or "" when it is absent, null or empty."""
    text = _text(members, field)
    if text and (fault := id_fault(text)):
        raise BadPayload(field, fault)
    return text


def _text(members: dict[str, Any], field: str) -> str:
    value = members.get(field)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadPayload(field, "is not a string")
    return value


def _absent(members: dict[str, Any], field: str) -> bool:
    return field not in members


def _short(name: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in name[:64])
