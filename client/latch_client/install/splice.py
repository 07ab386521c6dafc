"""Hook handlers into a settings text and out of it again; every other byte stays where it was.

Pure: text in, text out. What is put in is put behind the last member of its array or object, so
that taking it out leaves what was there before. Only containers that were empty before can't be
told from ones that we emptied: those go.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from latch_client.install.errors import InstallError
from latch_client.install.spans import Edit, Member, Span, apply, scan
from latch_contracts import strict_json
from latch_contracts.errors import BadPayload
from latch_contracts.strict_json import as_array, as_object

EMPTY: Final = "{}\n"
DEFAULT_UNIT: Final = "  "

Group = Mapping[str, Any]
IsOurs = Callable[[Mapping[str, Any]], bool]


def checked(settings: bytes) -> str:
    """The settings' text. Raises InstallError when it is no JSON object that every reader reads alike."""
    if not settings.strip():
        raise InstallError("it is empty; remove it, or write `{}` into it")
    try:
        strict_json.loads(settings)
    except BadPayload as error:
        raise InstallError(f"it {error.why}" if error.field == "payload" else str(error)) from error
    return settings.decode("utf-8")


def with_groups(text: str, groups: Mapping[str, Group]) -> str:
    """The settings with one more matcher group per event under ``hooks``."""
    root = scan(text)
    put = _Put(text, root)
    hooks = root.member("hooks")
    if hooks is None:
        return apply(
            text, [put.into(root, 1, {"hooks": {event: [group] for event, group in groups.items()}})]
        )
    _expect(hooks, "{", "`hooks` is not an object")
    edits: list[Edit] = []
    unlisted: dict[str, list[Group]] = {}
    for event, group in groups.items():
        listed = hooks.value.member(event)
        if listed is None:
            unlisted[event] = [group]
        else:
            _expect(listed, "[", f"`hooks.{event}` is not an array")
            edits.append(put.into(listed.value, 3, [group]))
    if unlisted:
        edits.append(put.into(hooks.value, 2, unlisted))
    return apply(text, edits)


def without_groups(text: str, is_ours: IsOurs) -> str:
    """The settings without the handlers that ``is_ours`` names, nor what would hold nothing without them."""
    root = scan(text)

    def of_handler(handler: Span) -> Cut:
        return None if is_ours(json.loads(text[handler.start : handler.end])) else []

    def of_group(group: Span) -> Cut:
        listed = group.member("hooks")
        return [] if listed is None else _cut(listed.value, of_handler)

    def of_root(member: Span) -> Cut:
        return _cut(member, lambda event: _cut(event, of_group)) if member is hooks else []

    found = root.member("hooks")
    hooks = None if found is None else found.value
    edits = _cut(root, of_root)
    return apply(text, [Edit(root.start + 1, root.end - 1)] if edits is None else edits)


def handlers(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every handler with its event, whatever else stands around it."""
    hooks = as_object((as_object(json.loads(text.removeprefix("\ufeff"))) or {}).get("hooks")) or {}
    for event, listed in hooks.items():
        for group in map(as_object, as_array(listed) or []):
            for handler in map(as_object, as_array((group or {}).get("hooks")) or []):
                if handler is not None:
                    yield event, handler


def has_ours(text: str, is_ours: IsOurs) -> bool:
    return without_groups(text, is_ours) != text


Cut = list[Edit] | None  # None: nothing would be left of it, so it goes whole


def _cut(container: Span, inside: Callable[[Span], Cut]) -> Cut:
    edits: list[Edit] = []
    gone: set[int] = set()
    for index, member in enumerate(container.members):
        found = inside(member.value)
        if found is None:
            gone.add(index)
        else:
            edits += found
    if gone and len(gone) == len(container.members):
        return None
    return edits + list(_without(container.members, gone))


def _without(members: tuple[Member, ...], gone: set[int]) -> Iterator[Edit]:
    """Each run of members that go, with the comma that goes with it: the one before, for the last run."""
    index = 0
    while index < len(members):
        after = index
        while after in gone:
            after += 1
        if after > index:
            last = after == len(members)
            start = members[index - 1].end if last else members[index].start
            yield Edit(start, members[after - 1].end if last else members[after].start)
        index = after + 1


class _Put:
    """Writes new members in the manner of the text around them."""

    def __init__(self, text: str, root: Span) -> None:
        self._text = text
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._one_line = bool(root.members) and self._indent(root) is None
        indent = self._indent(root)
        self._unit = indent or DEFAULT_UNIT

    def into(self, container: Span, depth: int, values: Mapping[str, Any] | list[Any]) -> Edit:
        """Append to an object or array whose members are ``depth`` levels deep."""
        indent = self._indent(container)
        if (indent is None and container.members) or self._one_line:
            body = json.dumps(values, ensure_ascii=False)[1:-1]
        else:
            indent = self._unit * depth if indent is None else indent
            lines = json.dumps(values, ensure_ascii=False, indent=self._unit).split("\n")[1:-1]
            body = "".join(f"\n{indent}{line.removeprefix(self._unit)}" for line in lines)
        if container.members:
            at = container.members[-1].end
            comma = "," if body.startswith("\n") else ", "
            return Edit(at, at, comma + body.replace("\n", self._newline))
        if body.startswith("\n"):
            body += "\n" + self._unit * (depth - 1)
        return Edit(container.start + 1, container.end - 1, body.replace("\n", self._newline))

    def _indent(self, container: Span) -> str | None:
        """The blanks before the first member, None when it has none or does not stand on its own line."""
        if not container.members:
            return None
        before = self._text[container.start + 1 : container.members[0].start]
        return before.rpartition("\n")[2] if "\n" in before else None


def _expect(member: Member, opening: str, why: str) -> None:
    if member.value.opening != opening:
        raise InstallError(why)
