"""Every table in one place: program name → entry.

A name in two tables is a mistake in a table and stops the import.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Operation
from latchd.shell.grammar import (
    archives,
    cloud,
    cmake,
    containers,
    credentials,
    curl,
    databases,
    disks,
    editing,
    files,
    git,
    interpreters,
    migrations,
    packages,
    probes,
    processes,
    readers,
    removers,
    search,
    shell_words,
    transfers,
    windows,
)
from latchd.shell.grammar.description import UNKNOWN, Context, Description, unique
from latchd.shell.grammar.options import Style
from latchd.shell.grammar.places import raw_disk, resolve
from latchd.shell.grammar.program import Program, run

TABLES: Final = (
    readers,
    files,
    search,
    editing,
    archives,
    disks,
    shell_words,
    processes,
    git,
    curl,
    transfers,
    probes,
    interpreters,
    containers,
    databases,
    cloud,
    packages,
    cmake,
    credentials,
    windows,
    migrations,
    removers,
)

_WRITES: Final = frozenset({Access.WRITE, Access.APPEND, Access.DELETE})
_ENDINGS: Final = frozenset(("exe", "cmd", "bat", "com"))
_FAULT: Final = msgspec.structs.replace(UNKNOWN, details=("grammar-fault",))


def entries() -> Iterator[Program]:
    """All entries, in the order of the tables."""
    for table in TABLES:
        yield from table.PROGRAMS


def examples() -> Iterator[tuple[str, str]]:
    """Every example of every entry and subcommand: command line, brief description."""
    waiting = list(entries())
    while waiting:
        entry = waiting.pop(0)
        yield from entry.examples.items()
        waiting += {id(child): child for child in entry.children.values()}.values()


# Programs whose long options have one dash: `-field=k` is no cluster of -f, whatever table they share.
ONE_DASH: Final = frozenset(
    "vault consul nomad packer boundary waypoint terraform tofu terragrunt go gofmt goimports golint "
    "java javac javap javadoc kotlin kotlinc scala scalac keytool jarsigner ffmpeg ffprobe ffplay openssl "
    "find gfind convert magick identify mogrify composite montage compare xmllint gs exiftool xcodebuild "
    "lipo plutil diskutil hdiutil otool ant erl prometheus traefik protoc-gen-go latex pdflatex xelatex "
    "lualatex xterm sqlite3 sqlite rtorrent mplayer".split()
)


def _index() -> dict[str, Program]:
    index: dict[str, Program] = {}
    for entry in entries():
        for name in entry.names:
            if name in index:
                raise ValueError(f"program `{name}` is in two tables")
            index[name] = _one_dash(entry) if name in ONE_DASH else entry
    return index


def _one_dash(entry: Program) -> Program:
    """The entry, reading no word as a cluster of letters."""
    options = entry.options
    if options.style is not Style.DASHED:
        options = msgspec.structs.replace(options, style=Style.DASHED)
    children = {name: _one_dash(child) for name, child in entry.children.items()}
    return msgspec.structs.replace(entry, options=options, children=children)


_BY_NAME: Final = _index()


def find(program: str) -> Program | None:
    """The entry for a program's basename; letter case, a version at its end and ``.exe`` are ignored."""
    name = plain_name(program)
    return _BY_NAME.get(name) or _BY_NAME.get(name.rstrip("0123456789.-"))


def plain_name(program: str) -> str:
    """A program's name without what Windows adds: directories with a backslash, ``.exe`` and its like."""
    name = program.lower().rpartition("\\")[2]
    stem, dot, ending = name.rpartition(".")
    return stem if dot and ending in _ENDINGS else name


def describe(program: str, arguments: Sequence[Argument], context: Context) -> Description:
    """What the command would do. ``arguments`` exclude the program word. Never raises."""
    entry = find(program)
    if entry is None:
        return UNKNOWN
    try:
        description = run(entry, arguments, context)
    except Exception:  # a fault in a table must not become an opinion that all is well
        return _FAULT
    return _with_disk(description, context)


def _with_disk(description: Description, context: Context) -> Description:
    """Writing to a block device is a disk write, whatever the program."""
    for target in description.targets:
        if target.access in _WRITES and raw_disk(resolve(target.word, context) or target.word.value):
            return msgspec.structs.replace(
                description,
                operations=unique((*description.operations, Operation.DISK_WRITE)),
                details=tuple(dict.fromkeys((*description.details, "disk-loss"))),
            )
    return description


def program_names() -> frozenset[str]:
    """All names that are known, aliases included."""
    return frozenset(_BY_NAME)
