"""How a wrapper's own options and operands are read, up to the command it runs.

A table says what is known (wrappers.Options); an option that is not in it makes the result doubtful.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from latch_contracts.facts import Argument
from latchd.shell.child import word_at
from latchd.shell.wrappers import Options


class Parsed(msgspec.Struct, frozen=True):
    start: int  # index of the command; len(words) if there is none
    codes: tuple[Argument, ...] = ()
    stopped: bool = False
    unknown: bool = False


def parse_options(words: Sequence[Argument], options: Options, first: int = 1) -> Parsed:
    """Read a wrapper's options and operands."""
    codes: list[Argument] = []
    operands = options.operands
    unknown = False
    index = first
    while index < len(words):
        value = words[index].value
        if value == "--":
            index += 1
            break
        if value == "-" and (options.assigns or options.permutes):
            index += 1
            continue
        if options.own is not None and options.own.match(value):
            index += 1
            continue
        if value in options.stops:
            return Parsed(len(words), tuple(codes), stopped=True)
        if value.startswith("--"):
            name, equals, rest = value[2:].partition("=")
            flag = _match(name, options.long_flags)
            takes = _match(name, options.long_values) or f"--{name}" in options.codes
            if f"--{name}" in options.codes:
                codes.append(
                    Argument(rest, expands=words[index].expands) if equals else word_at(words, index + 1)
                )
            unknown |= not (flag or takes or options.any_long)
            index += 1 if equals or flag or not takes else 2
        elif value.startswith("-") and len(value) > 1:
            step, code, known = short_options(words, index, options)
            codes += code
            unknown |= not known
            index += step
        elif options.assigns and "=" in value:
            index += 1
        elif operands:
            operands -= 1
            index += 1
            if not operands and not options.permutes:
                break
        elif options.permutes and any(_carries_code(word.value, options) for word in words[index:]):
            index += 1  # what is left goes to the code as arguments
        else:
            break
    return Parsed(min(index, len(words)), tuple(codes), unknown=unknown)


def _carries_code(value: str, options: Options) -> bool:
    return value.split("=")[0] in options.codes or (value[:2] in options.codes and not value.startswith("--"))


def _match(name: str, known: frozenset[str]) -> bool:
    return name in known or (len(name) > 2 and any(item.startswith(name) for item in known))


def short_options(
    words: Sequence[Argument], index: int, options: Options
) -> tuple[int, list[Argument], bool]:
    """Words taken by a cluster of short options, the code among them, and whether all are known."""
    word = words[index]
    value = word.value
    if options.numbers and value[1:].isdigit():
        return 1, [], True
    for place, char in enumerate(value[1:], 1):
        rest = value[place + 1 :]
        if f"-{char}" in options.codes:
            code = Argument(rest, expands=word.expands) if rest else word_at(words, index + 1)
            return (1 if rest else 2), [code], True
        if char in options.attached and char not in options.flags:
            return 1, [], True
        if char in options.values:
            return (1 if rest else 2), [], True
        if char not in options.flags:
            return 1, [], False
    return 1, [], True
