"""The texts of one event of Claude Code: the prompt, what a tool was given, what it answered.

They are the payload's own strings, none copied. A surface's name comes from a closed list: the keys
of a result are somebody else's words, and one of them may be a secret itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from latch_contracts.contract import Event, Kind, Surface
from latch_contracts.events import Call, Text
from latch_contracts.strict_json import as_array, as_object

_NAMED: Final = frozenset(
    {"stdout", "stderr", "content", "text", "file", "error", "output", "structuredContent"}
)
_WRITES: Final = frozenset({Surface.WRITE, Surface.EDIT})
# What a write's arguments hold beside what is written: what was there before, and where.
_NOT_WRITTEN: Final = frozenset(
    {"old_string", "file_path", "notebook_path", "cell_id", "cell_type", "edit_mode"}
)
_BINARY: Final = frozenset({"base64", "data", "blob"})  # as Read and MCP servers send pictures
_MEDIA: Final = ("image", "audio", "video")


def texts(event: Event, call: Call | None, members: Mapping[str, Any]) -> tuple[Text, ...]:
    """What people, programs and files said in this event; nothing for a proposal.

    A result tells of the call's own arguments too, which were not read before it ran. What a write
    answers repeats what it was given, so of a write only that is taken.
    """
    if event.kind is Kind.PROMPT:
        return tuple(_leaves("prompt", members.get("prompt")))
    if event.kind is not Kind.RESULT or call is None:
        return ()
    found = list(_given(call))
    if call.surface not in _WRITES:
        found += _leaves("result", members.get("tool_response"))
    found += _leaves("result.error", members.get("error"))
    return tuple(found)


def _given(call: Call) -> Iterator[Text]:
    if call.command is not None:
        yield from _leaves("command", call.command)
        return
    name = "content" if call.surface in _WRITES else "input"
    for key, value in call.arguments.items():
        if call.surface not in _WRITES or key not in _NOT_WRITTEN:
            for leaf in _leaves("", value):
                yield Text(name, leaf.text)


def _leaves(surface: str, value: object) -> Iterator[Text]:
    """Every string below a value, in its order. The payload's own depth is bounded where it is read."""
    if isinstance(value, str):
        if value:
            yield Text(surface, value)
    elif (members := as_object(value)) is not None:
        for key, member in members.items():
            if key == "old_string" or (key in _BINARY and _is_picture(members)):
                continue
            yield from _leaves(f"{surface}.{key}" if key in _NAMED else surface, member)
    elif (array := as_array(value)) is not None:
        for member in array:
            yield from _leaves(surface, member)


def _is_picture(members: Mapping[str, Any]) -> bool:
    kinds = (members.get(key) for key in ("type", "mimeType", "mediaType"))
    return any(isinstance(kind, str) and kind.startswith(_MEDIA) for kind in kinds)
