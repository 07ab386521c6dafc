"""Where a wrapper's command runs: the directory that the wrapper's own options name.

`env -C DIR`, `sudo --chdir=DIR`, `systemd-run` without any (which starts in `/`), a login (which starts in a
home that only a look at the machine would tell).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.child import HOLE, Child, word_at
from latchd.shell.wrappers import UNKNOWN_PLACE, Options

_SERVICE_SETTING = re.compile(r"(?:--property=|-p)?WorkingDirectory=[-!]?(.*)\Z", re.DOTALL)


def directories(words: Sequence[Argument], end: int, options: Options) -> tuple[Argument, ...]:
    """The directory that the options among ``words[1:end]`` send the command to; nothing if it stays."""
    given = list(_given(words[:end], options))
    named = [value for name, value in given if value is not None and _among(name, options.directory)]
    if options.starts_in == "/":  # a service: its settings say it too
        matches = [_SERVICE_SETTING.match(word.value) for word in words[1:end]]
        named += [Argument(match.group(1), expands="\0" in match.group(1)) for match in matches if match]
    if named:
        return tuple(named[-1:])
    spelled = {name for name, _ in given}
    if spelled & options.logs_in:
        return (HOLE,)
    if not options.starts_in or spelled & options.stays:
        return ()
    if options.starts_in == UNKNOWN_PLACE:
        return (HOLE,)
    return (Argument("~" if "--user" in spelled else options.starts_in),)


def named(words: Sequence[Argument], end: int, options: Options) -> tuple[Argument, ...]:
    """All directories that the options name, each starting from the one before it."""
    given = _given(words[:end], options)
    return tuple(value for name, value in given if value is not None and _among(name, options.directory))


def moved(children: Iterable[Child], where: tuple[Argument, ...]) -> tuple[Child, ...]:
    """The children, started in ``where`` first."""
    if not where:
        return tuple(children)
    return tuple(
        msgspec.structs.replace(child, directories=(*where, *child.directories)) for child in children
    )


def _given(words: Sequence[Argument], options: Options) -> Iterator[tuple[str, Argument | None]]:
    """Each option by its spelling, with its value where it names a directory."""
    for index, word in enumerate(words[1:], 1):
        value = word.value
        if value == "--":
            return
        if value.startswith("--"):
            name, equals, rest = value.partition("=")
            following = Argument(rest, word.quote, "\0" in rest) if equals else word_at(words, index + 1)
            yield name, following if _among(name, options.directory) else None
        elif value == "-":
            yield value, None
        elif value.startswith("-"):
            yield from _cluster(words, index, options)


def _cluster(
    words: Sequence[Argument], index: int, options: Options
) -> Iterator[tuple[str, Argument | None]]:
    word = words[index]
    for place, char in enumerate(word.value[1:], 1):
        rest = word.value[place + 1 :]
        if f"-{char}" in options.directory:
            yield (
                f"-{char}",
                Argument(rest, word.quote, "\0" in rest) if rest else word_at(words, index + 1),
            )
            return
        yield f"-{char}", None
        if char in options.values:
            return


def _among(name: str, known: frozenset[str]) -> bool:
    """A long option may be cut short as far as it stays the only one of that beginning."""
    return name in known or (len(name) > 4 and any(item.startswith(name) for item in known))
