"""The packs of this release, read from the package once, when the first call is judged."""

from __future__ import annotations

import functools
from importlib import resources

from latchd.rules.cel import CelEngine
from latchd.rules.compiling import Entry, entries
from latchd.rules.generation import Generation, generation
from latchd.rules.pack import PackFile, parse

ENGINE = CelEngine()


@functools.cache
def files() -> tuple[PackFile, ...]:
    """Raises PackError for a package that was tampered with."""
    found = sorted(
        (each for each in resources.files("latchd.rules").joinpath("packs").iterdir()),
        key=lambda each: each.name,
    )
    return tuple(
        parse(each.read_bytes(), f"latchd/rules/packs/{each.name}")
        for each in found
        if each.name.endswith(".yaml")
    )


@functools.cache
def bundled() -> tuple[Entry, ...]:
    return tuple(entries(files(), ENGINE, lazily=True))


@functools.cache
def compiled() -> tuple[Entry, ...]:
    """The same rules with every expression compiled: some 50 ms, once."""
    return tuple(entries(files(), ENGINE))


@functools.lru_cache(maxsize=16)
def without(disable: tuple[str, ...]) -> Generation:
    """The rules of this release but these. Raises GenerationError for an id that can't be left out."""
    return generation(bundled(), disable)


def released() -> Generation:
    """The rules of this release and no others."""
    return without(())
