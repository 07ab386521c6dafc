"""A pack: rules in a YAML file that people write and read. Types, limits, and from bytes to a checked value.

Refused whole at the first fault, with file, line and reason: a key with a slip of the pen must not be a
rule that silently does not exist.
"""

from __future__ import annotations

import re
from typing import Annotated, Final, Literal

import msgspec
from msgspec import Meta

from latch_contracts.facts import Operation
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.rules import patterns
from latchd.rules.documents import DocumentError, read
from latchd.rules.engine import MAX_SOURCE
from latchd.shell.grammar.description import DETAILS

MAX_FILES: Final = 64
MAX_FILE: Final = 1 << 20  # bytes
MAX_ALL: Final = 4 << 20  # bytes of all files together
MAX_RULES: Final = 4096  # of all files together
MAX_EXPRESSIONS: Final = 512  # of all files together
_ID: Final = r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)+$"
_NAME: Final = r"^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$"

# A pack speaks of calls; what keeps the guard in place, and what is asked of a file's history, is ours.
PackGroup = Literal[
    "destroy",
    "git-loss",
    "delete-inside",
    "credential",
    "environment",
    "secret-egress",
    "download-exec",
    "metadata-endpoint",
    "reverse-shell",
    "network",
    "upload-unknown",
    "package",
    "cannot-vouch",
    "cannot-vouch-destructive",
    "write-outside",
    "protected",
    "persistence",
    "unusual",
    "notable",
]
Binding = Literal["command", "path", "network", "pipeline"]
_Sentence = Annotated[str, Meta(min_length=1, max_length=256)]
_Word = Annotated[str, Meta(min_length=1, max_length=128)]
_Example = Annotated[str, Meta(min_length=1, max_length=4096)]
_Examples = Annotated[tuple[_Example, ...], Meta(max_length=64)]


class PackRule(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One rule as it is written.

    ``expression`` is asked where the facts are complete, ``pattern`` (RE2) where they are not or where it
    failed; without an expression the pattern is all there is. ``binds`` says what the pattern may be met
    in. ``owner`` names a rule of the same file that speaks for this one too, once its expression could be
    asked. ``safe_negative``, where given, must hold for a false expression to silence the pattern.
    ``programs``, ``operations`` and ``details`` are what the rule is looked at for at all.
    """

    id: Annotated[str, Meta(pattern=_ID, max_length=96)]
    title: _Sentence
    severity: Severity
    confidence: Annotated[float, Meta(ge=0, le=1)]
    pattern: Annotated[str, Meta(min_length=1, max_length=patterns.MAX_BYTES)]
    tags: Annotated[tuple[_Word, ...], Meta(min_length=1, max_length=16)]
    message: _Sentence
    instead: _Sentence
    enabled: bool = True
    group: PackGroup | None = None
    expression: Annotated[str, Meta(max_length=MAX_SOURCE)] = ""
    safe_negative: Annotated[str, Meta(max_length=MAX_SOURCE)] = ""
    owner: str = ""
    binds: Annotated[tuple[Binding, ...], Meta(min_length=1, max_length=4)] = ("command",)
    programs: Annotated[tuple[_Word, ...], Meta(max_length=256)] = ()
    operations: Annotated[tuple[Operation, ...], Meta(max_length=64)] = ()
    details: Annotated[tuple[_Word, ...], Meta(max_length=64)] = ()
    tool_call_only: Literal[True] = True
    denies: _Examples = ()
    passes: _Examples = ()


class Pack(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One file: its rules in the order in which they are asked."""

    version: Literal[1]
    category: Annotated[str, Meta(pattern=_NAME, max_length=64)]
    rules: Annotated[tuple[PackRule, ...], Meta(max_length=2048)]


class PackFile(msgspec.Struct, frozen=True):
    """A pack, where it was read, and the line on which each rule begins and each of its fields stands."""

    path: str
    pack: Pack
    lines: dict[str, int]

    def line(self, at: int, field: str = "") -> int:
        """The line of a rule by its place in the file, or of one of its fields."""
        return self.lines.get(f"$.rules[{at}].{field}" if field else "", 0) or self.lines[f"$.rules[{at}]"]


class PackError(Exception):
    """A pack can't be used: ``path``:``line``: ``why``."""

    def __init__(self, path: str, line: int, why: str) -> None:
        super().__init__(f"{path}:{line}: {why}")
        self.path = path
        self.line = line
        self.why = why


def parse(content: bytes, path: str) -> PackFile:
    """The pack in the bytes of one file. Raises PackError."""
    if len(content) > MAX_FILE:
        raise PackError(path, 1, f"the file has {len(content)} bytes, the limit is {MAX_FILE}")
    try:
        document = read(content.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise PackError(path, line, "the file is not UTF-8") from None
    except DocumentError as error:
        raise PackError(path, error.line, error.why) from None
    try:
        pack = msgspec.convert(document.value, Pack, strict=True)
    except msgspec.ValidationError as error:
        where, why = _told(error)
        raise PackError(path, document.line(where), why) from None
    file = PackFile(path, pack, dict(document.lines))
    for at, rule in enumerate(pack.rules):
        for field, fault in _faults(rule):
            raise PackError(path, file.line(at, field), f"`{rule.id}`: {fault}")
    return file


def _faults(rule: PackRule) -> list[tuple[str, str]]:
    """What is wrong with a rule taken by itself, apart from its expressions: field and reason."""
    found: list[tuple[str, str]] = []
    if fault := patterns.fault(rule.pattern):
        found.append(("pattern", f"the pattern is wrong: {fault}"))
    if unknown := [detail for detail in rule.details if detail not in DETAILS]:
        found.append(("details", f"`{unknown[0]}` is no detail that a grammar gives"))
    if rule.safe_negative and not rule.expression:
        found.append(("safe_negative", "`safe_negative` without an `expression` decides nothing"))
    if rule.owner and rule.expression:
        found.append(("owner", "a rule with an `owner` is asked through it and has no `expression`"))
    for field in ("message", "instead"):
        text: str = getattr(rule, field)
        if "\n" in text or text != text.strip() or text.endswith((".", "!", "?")):
            found.append((field, f"`{field}` is one sentence on one line, without a stop"))
    if wrong := [name for name in rule.programs if name != name.lower() or "/" in name]:
        found.append(("programs", f"`{wrong[0]}` is no program's name in lower case"))
    return found


def group_of(rule: PackRule) -> Group:
    """The rule's group; without one its severity decides."""
    return Group.BY_SEVERITY if rule.group is None else Group(rule.group)


def _told(error: msgspec.ValidationError) -> tuple[str, str]:
    """msgspec's text as the path it speaks of, and ours."""
    text, _, where = str(error).partition(" - at `")
    path = where.rstrip("`") or "$"
    shown = path.removeprefix("$").removeprefix(".") or "the file"
    if unknown := re.search(r"unknown field `([^`]*)`", text):
        return f"{path}.{unknown[1]}", f"`{unknown[1]}` is no field that is known here"
    if missing := re.search(r"missing required field `([^`]*)`", text):
        return path, f"`{missing[1]}` is missing in {'the file' if path == '$' else f'`{shown}`'}"
    if "matching regex" in text:
        like = "area.name" if path.endswith(".id") else "name"
        return path, f"`{shown}` is spelt like `{like}`, lower case with hyphens"
    return path, f"`{shown}` is wrong: {text[:1].lower()}{text[1:]}".replace("\n", " ")
