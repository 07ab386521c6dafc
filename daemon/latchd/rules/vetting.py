"""A pack before it is put in place: read as the daemon would, beside the rules it would judge with."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import msgspec

from latchd.rules.bundled import ENGINE, bundled
from latchd.rules.compiling import Entry, entries
from latchd.rules.generation import Generation, GenerationError, generation
from latchd.rules.lint import Fault
from latchd.rules.pack import PackError, PackFile, parse
from latchd.rules.standing import content_of


class Vetted(msgspec.Struct, frozen=True):
    """A pack that can be used: all the rules it would judge with, and its own among them."""

    rules: Generation
    own: tuple[Entry, ...]


def vetted(path: str, beside: Iterable[str]) -> Vetted | Fault:
    """The pack of a file among the release's rules and the packs ``beside`` it, or why it can't be used.

    A pack beside it that can't be used is left out: its own vetting tells of it. Raises OSError.
    """
    Path(path).stat()  # a file that is not there is no pack with a fault
    try:
        own = tuple(entries([_read(path)], ENGINE))
        rules = generation([*bundled(), *_usable(beside), *own])
    except PackError as error:
        return Fault(error.path, error.line, "", error.why)
    except GenerationError as error:
        at = error.entry
        return Fault(at.source, at.line, "", error.why) if at else Fault(path, 1, "", error.why)
    return Vetted(rules, own)


def _usable(paths: Iterable[str]) -> Iterable[Entry]:
    for path in paths:
        try:
            yield from tuple(entries([_read(path)], ENGINE))
        except PackError:
            continue


def _read(path: str) -> PackFile:
    return parse(content_of(path), path)
