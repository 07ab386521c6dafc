"""YAML as packs may use it: one document of maps, lists and plain scalars, each with the line it stands on.

Read from the parser's events, not from its objects: an alias, an anchor, a tag or a second document is
refused where it is met, and a key that is there twice is not silently the last one. Only `true` and
`false` are booleans, only digits are numbers; every other plain word is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

import msgspec
import yaml

_Loader: Final[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the same events, read by libyaml
_INTEGER: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,17})\Z")
_DECIMAL: Final = re.compile(r"-?(?:0|[1-9][0-9]{0,8})\.[0-9]{1,9}\Z")
MAX_DEPTH: Final = 8


class DocumentError(Exception):
    """The text is no document of ours. ``line`` counts from 1."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line = line
        self.why = why


class Document(msgspec.Struct, frozen=True):
    """``lines`` gives the line of each value by its path, as in ``$.rules[0].id``."""

    value: Any
    lines: Mapping[str, int]

    def line(self, path: str) -> int:
        """The line of a value, or of the nearest one around it."""
        while path not in self.lines and path:
            path = re.sub(r"(?:\.[^.\[\]]*|\[[^\[\]]*\])\Z", "", path) if path != "$" else ""
        return self.lines.get(path, 1)


def read(text: str) -> Document:
    """Raises DocumentError."""
    try:
        return _Reader(yaml.parse(text, Loader=_Loader)).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise DocumentError(1 if mark is None else mark.line + 1, _said(error.problem)) from None
    except yaml.YAMLError as error:
        raise DocumentError(1, _said(str(error))) from None


def _said(problem: str | None) -> str:
    return f"the text is no YAML: {(problem or 'unreadable').splitlines()[0]}"


class _Reader:
    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._lines: dict[str, int] = {}

    def document(self) -> Document:
        value: Any = None
        documents = 0
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise DocumentError(_line(event), "a file holds one document")
            elif isinstance(event, yaml.NodeEvent):
                value = self._value(event, "$", 0)
        return Document(value, self._lines)

    def _value(self, event: yaml.Event, path: str, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise DocumentError(_line(event), f"the document is nested more than {MAX_DEPTH} deep")
        self._lines[path] = _line(event)
        if isinstance(event, yaml.AliasEvent):
            raise DocumentError(_line(event), "aliases are not admitted")
        if getattr(event, "anchor", None) is not None:
            raise DocumentError(_line(event), "anchors are not admitted")
        if getattr(event, "tag", None) is not None:
            raise DocumentError(_line(event), "tags are not admitted")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path, depth)
        return self._mapping(path, depth)

    def _sequence(self, path: str, depth: int) -> list[Any]:
        found: list[Any] = []
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            found.append(self._value(event, f"{path}[{len(found)}]", depth + 1))
        return found

    def _mapping(self, path: str, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._value(event, f"{path}.?", depth + 1)
            if not isinstance(key, str):
                raise DocumentError(_line(event), "a key is a plain word")
            if key in found:
                raise DocumentError(_line(event), f"`{key}` is there twice")
            found[key] = self._value(next(self._events), f"{path}.{key}", depth + 1)
            self._lines[f"{path}.{key}"] = _line(event)
        return found


def _line(event: yaml.Event) -> int:
    mark: Any = event.start_mark
    return int(mark.line) + 1


def _scalar(event: yaml.ScalarEvent) -> bool | int | float | str:
    text = str(event.value)
    if event.style:  # quoted, or a block: text, whatever it says
        return text
    if text in ("true", "false"):
        return text == "true"
    if text in ("", "~", "null"):
        raise DocumentError(_line(event), "a value is missing")
    if _INTEGER.match(text):
        return int(text)
    return float(text) if _DECIMAL.match(text) else text
