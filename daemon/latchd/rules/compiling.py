"""From packs to rules: expressions compiled, owners found, each rule evaluated once before it may judge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from latchd.guard.rule import Rule
from latchd.rules.dispatch import Voice, rule_of
from latchd.rules.engine import CompileError, Program, RuleEngine, RuleError, View
from latchd.rules.fixture import FIXTURE
from latchd.rules.pack import MAX_EXPRESSIONS, PackError, PackFile, PackRule

# What the most costly rule of a pack may cost on the facts of a call that is long but honest.
MAX_FIXTURE_STEPS: Final = 100_000


class Entry(msgspec.Struct, frozen=True):
    """One rule of a generation: how it is asked, where it comes from, and what was written."""

    rule: Rule
    source: str  # "built-in", or the pack's path
    line: int = 0
    declared: PackRule | None = None
    enabled: bool = True


class Lazy:
    """An expression of ours, compiled when it is first asked; a test compiles each of them."""

    __slots__ = ("_engine", "_program", "source")

    def __init__(self, engine: RuleEngine, source: str) -> None:
        self.source = source
        self._engine = engine
        self._program: Program | None = None

    def steps(self, sizes: Mapping[str, int]) -> int:
        return self._compiled().steps(sizes)

    def holds(self, view: View) -> bool:
        return self._compiled().holds(view)

    def _compiled(self) -> Program:
        if self._program is None:
            self._program = self._engine.compile(self.source)
        return self._program


def entries(files: Sequence[PackFile], engine: RuleEngine, *, lazily: bool = False) -> Iterator[Entry]:
    """The rules of packs in their order, each compiled when it is asked for. Raises PackError.

    ``lazily`` leaves compiling to the first call that needs it: for packs that a test has compiled.
    """
    expressions = sum(bool(rule.expression) for file in files for rule in file.pack.rules)
    if expressions > MAX_EXPRESSIONS:
        raise PackError(files[-1].path, 1, f"more than {MAX_EXPRESSIONS} expressions in all")
    for file in files:
        yield from _of_file(file, engine, lazily=lazily)


def _of_file(file: PackFile, engine: RuleEngine, *, lazily: bool) -> Iterator[Entry]:
    voices: dict[str, Voice] = {}
    places = {rule.id: at for at, rule in enumerate(file.pack.rules) if rule.expression}
    for at, declared in enumerate(file.pack.rules):
        speaker = declared.owner or declared.id
        if speaker not in voices and speaker in places:
            voices[speaker] = _voice(file, places[speaker], engine, lazily=lazily)
        voice = voices.get(speaker)
        if declared.owner:
            if voice is None:
                why = f"`{declared.id}`: `{declared.owner}` is no rule of this file with an expression"
                raise PackError(file.path, file.line(at, "owner"), why)
            voice = msgspec.structs.replace(voice, is_own=False)
        yield Entry(rule_of(declared, voice), file.path, file.line(at), declared, declared.enabled)


def _voice(file: PackFile, at: int, engine: RuleEngine, *, lazily: bool) -> Voice:
    silences = bool(file.pack.rules[at].safe_negative)
    return Voice(
        program=_program(file, at, "expression", engine, lazily=lazily),
        safe_negative=_program(file, at, "safe_negative", engine, lazily=lazily) if silences else None,
        is_own=True,
    )


def _program(file: PackFile, at: int, field: str, engine: RuleEngine, *, lazily: bool) -> Program:
    source: str = getattr(file.pack.rules[at], field)
    if lazily:
        return Lazy(engine, source)
    where, name = file.line(at, field), file.pack.rules[at].id
    try:
        program = engine.compile(source)
    except CompileError as error:
        raise PackError(file.path, where, f"`{name}`: {field} {error}") from None
    if (steps := program.steps(FIXTURE.sizes)) > MAX_FIXTURE_STEPS:
        why = f"may cost {steps} steps on an ordinary call, the limit is {MAX_FIXTURE_STEPS}"
        raise PackError(file.path, where, f"`{name}`: the {field} {why}")
    try:
        program.holds(FIXTURE)
    except RuleError as error:
        raise PackError(file.path, where, f"`{name}`: the {field} can't be evaluated: {error}") from None
    return program
