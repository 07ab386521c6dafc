"""A program's entry in a table: its names, its options, how to judge its words, and examples.

Every entry carries examples (command line → brief description); one test runs them all, so a table
documents itself and cannot drift.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar.description import PREVIEW, Context, Description, Target
from latchd.shell.grammar.options import Options, Parsed, Style, grammar, parse

Judge = Callable[[Parsed, Context], Description]
Adjust = Callable[[Parsed, Description, Context], Description]


class Program(msgspec.Struct, frozen=True):
    """One entry. ``judge`` sees the words already sorted by ``options``.

    ``previews`` are options that make the program print something about itself and stop, provided
    they come before the first operand: a BSD parser takes anything after it as an operand.
    """

    names: tuple[str, ...]
    options: Options
    judge: Judge
    examples: Mapping[str, str]
    previews: frozenset[str] = frozenset({"help", "version"})
    children: Mapping[str, Program] = msgspec.field(default_factory=dict[str, "Program"])
    adjust: Adjust | None = None  # what the options ahead of the subcommand add to its description


_USUAL: Final = frozenset({"help", "version"})


def program(
    names: str,
    options: str,
    judge: Judge,
    examples: Mapping[str, str],
    *,
    style: Style = Style.PERMUTE,
    abbreviates: bool = True,
    previews: str = "help version",
) -> Program:
    """An entry from its short forms. ``help`` and ``version`` are added to the options unless there."""
    wanted = frozenset(previews.split())
    known = {spelling for entry in options.split() for spelling in entry.rstrip("=?!%").split(",")}
    text = " ".join([options, *sorted(wanted & _USUAL - known)])
    return Program(
        tuple(names.split()), grammar(text, style, abbreviates=abbreviates), judge, examples, wanted
    )


def family(  # a program of subcommands
    names: str,
    options: str,
    children: Iterable[Program],
    otherwise: Judge,
    examples: Mapping[str, str],
    *,
    adjust: Adjust | None = None,
    style: Style = Style.LEADING,
    previews: str = "help version",
) -> Program:
    """An entry whose first operands name a subcommand. ``options`` are those ahead of it; a child's name
    may be several words (``repo+delete``). ``otherwise`` judges what names no child."""
    entry = program(names, options, otherwise, examples, style=style, previews=previews)
    by_name: dict[str, Program] = {}
    for child in children:
        for name in child.names:
            if name in by_name:
                raise ValueError(f"subcommand `{name}` is in two entries of `{entry.names[0]}`")
            by_name[name] = child
    return msgspec.structs.replace(entry, children=by_name, adjust=adjust)


_MOST_WORDS: Final = 3


def child_of(entry: Program, operands: tuple[Argument, ...]) -> tuple[Program, tuple[Argument, ...]] | None:
    """The subcommand that the operands name, the longest name first, and the words after it."""
    for length in range(min(_MOST_WORDS, len(operands)), 0, -1):
        name = "+".join(word.value for word in operands[:length])
        child = entry.children.get(name) or entry.children.get(name.lower())
        if child is not None:
            return child, operands[length:]
    return None


def run(entry: Program, words: Iterable[Argument], context: Context) -> Description:
    """Describe a command by its entry."""
    parsed = parse(entry.options, tuple(words))
    if entry.previews & parsed.early:
        return PREVIEW
    found = child_of(entry, parsed.operands) if entry.children else None
    if found is None and entry.children and entry.options.style is Style.LEADING:
        # options of a verb without an entry of its own stand after it
        parsed = parse(msgspec.structs.replace(entry.options, style=Style.PERMUTE), parsed.words)
    description = run(found[0], found[1], context) if found else entry.judge(parsed, context)
    if entry.adjust is not None:
        description = entry.adjust(parsed, description, context)
    if parsed.unknown and "unknown-option" not in description.details:
        return msgspec.structs.replace(description, details=(*description.details, "unknown-option"))
    return description


def aimed(access: Access, words: Iterable[Argument], *, recursive: bool = False) -> tuple[Target, ...]:
    """The words as targets of one access; ``-`` stands for a stream and names no file."""
    return tuple(Target(access, word, recursive) for word in words if word.value not in ("-", ""))


def neutral(_parsed: Parsed, _context: Context) -> Description:
    """Prints or computes something and touches nothing."""
    return Description(known=True)


def silent(_parsed: Parsed, _context: Context) -> Description:
    """Touches nothing and prints nothing."""
    return Description(known=True, writes_stdout=False)


def filters(_parsed: Parsed, _context: Context) -> Description:
    """Turns stdin into stdout and takes no file."""
    return Description(known=True, reads_stdin=True)


def executes(_parsed: Parsed, _context: Context) -> Description:
    """Runs something that its words alone don't tell: a build, a test run, an editor."""
    return Description(known=True, operations=(Operation.EXECUTE,))


def reader(*value_options: str) -> Judge:
    """Reads its operands, or stdin without any; the named options hold files that are read too."""

    def judge(parsed: Parsed, _context: Context) -> Description:
        targets = aimed(Access.READ, (*parsed.values(*value_options), *parsed.operands))
        stdin = not parsed.operands or any(word.value == "-" for word in parsed.operands)
        return Description(
            known=True,
            operations=(Operation.READ,) if targets else (),
            targets=targets,
            reads_stdin=stdin,
        )

    return judge


def acts(*operations: Operation, details: tuple[str, ...] = (), writes_stdout: bool = True) -> Judge:
    """Always has the same effects, whatever its words."""
    described = Description(known=True, operations=operations, details=details, writes_stdout=writes_stdout)

    def judge(_parsed: Parsed, _context: Context) -> Description:
        return described

    return judge


def flags(parsed: Parsed, *names: str) -> tuple[str, ...]:
    """Those of the names that were given as options, as details."""
    return tuple(name for name in names if parsed.has(name))
