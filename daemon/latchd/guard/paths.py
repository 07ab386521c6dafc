"""Paths by components: patterns, globs against patterns, and which part of the machine a path is in.

Everything compares case-folded: on a disk that folds case a mixed-case twin is the same file, and on
one that doesn't, nobody has both. A dynamic part (NUL) never widens what is known of the rest.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Iterable
from typing import Final

import msgspec

from latch_contracts.facts import PathFact

_WILD: Final = frozenset("*?[")
_HOMES: Final = ("home", "users")


class Anchor(enum.StrEnum):
    HOME = "home"  # below a home directory
    ROOT = "root"  # below /
    ANYWHERE = "anywhere"  # these components in a row, wherever they are


class Pattern(msgspec.Struct, frozen=True):
    """Components to match, each possibly with ``*``; what lies below a match matches too."""

    anchor: Anchor
    parts: tuple[str, ...]
    text: str


def pattern(text: str) -> Pattern:
    """``~/x`` is anchored at homes, ``/x`` at the root, anything else matches anywhere."""
    if text.startswith("~/"):
        return Pattern(Anchor.HOME, components(text[2:]), text)
    return Pattern(Anchor.ROOT if text.startswith("/") else Anchor.ANYWHERE, components(text), text)


class Table(msgspec.Struct, frozen=True):
    """Patterns in order, indexed by their first component: a path is compared with few of them.

    ``loose`` holds, by anchor, those whose first component has a ``*``; of these the ones of a single
    component that match anywhere are one expression, ``names``.
    """

    entries: tuple[Pattern, ...]
    fixed: dict[tuple[Anchor, str], tuple[int, ...]]
    loose: dict[Anchor, tuple[int, ...]]
    names: re.Pattern[str]


def table(entries: Iterable[Pattern]) -> Table:
    """Index patterns; their order stays what decides which is reported."""
    listed = tuple(entries)
    fixed: dict[tuple[Anchor, str], list[int]] = {}
    loose: dict[Anchor, list[int]] = {}
    names: list[str] = []
    for at, entry in enumerate(listed):
        first = entry.parts[0]
        if "*" not in first:
            fixed.setdefault((entry.anchor, first), []).append(at)
            continue
        loose.setdefault(entry.anchor, []).append(at)
        if entry.anchor is Anchor.ANYWHERE:
            names.append(".*".join(re.escape(piece) for piece in first.split("*")))
    return Table(
        entries=listed,
        fixed={key: tuple(found) for key, found in fixed.items()},
        loose={key: tuple(found) for key, found in loose.items()},
        names=re.compile("|".join(names) or r"(?!)", re.DOTALL),
    )


def patterns(text: str) -> Table:
    """A table of patterns written as words."""
    return table(pattern(word) for word in text.split())


@functools.lru_cache(maxsize=8192)
def components(path: str) -> tuple[str, ...]:
    """The case-folded components; a NUL stays in its component."""
    return tuple(part for part in path.casefold().split("/") if part and part != ".")


def below_home(parts: tuple[str, ...], home: tuple[str, ...]) -> tuple[str, ...] | None:
    """What follows the home directory, whoever's home it is; None when it is under no home.

    A path that starts with a wholly dynamic part may start with a home.
    """
    if home and parts[: len(home)] == home:
        return parts[len(home) :]
    if parts and (parts[0] in ("\0", "$home") or parts[0].startswith("~")):
        return parts[1:]
    if parts and parts[0] == "root":
        return parts[1:]
    if len(parts) > 1 and parts[0] in _HOMES:
        return parts[2:]
    return None


def surely_matches(known: Table, path: str, home: str) -> bool:
    """Whether all that a path may stand for is covered: an exemption must not rest on a glob's chance."""
    if _WILD & set(path):
        written = components(path)
        return any(written[-len(entry.parts) :] == entry.parts for entry in known.entries)
    return first_match(known, path, home) is not None


def first_match(known: Table, path: str, home: str) -> Pattern | None:
    """The first pattern that the path, or a directory above it, may match."""
    parts = components(path)
    under = below_home(parts, components(home))
    if _WILD & set(path):
        return _scan(known, parts, under)
    found: list[int] = []
    for anchor, start in ((Anchor.HOME, under), (Anchor.ROOT, parts)):
        if start:
            for at in (*known.fixed.get((anchor, start[0]), ()), *known.loose.get(anchor, ())):
                if _starts(start, known.entries[at].parts):
                    found.append(at)
    for index, part in enumerate(parts):
        candidates = known.fixed.get((Anchor.ANYWHERE, part), ())
        if known.names.fullmatch(part):
            candidates += known.loose[Anchor.ANYWHERE]
        for at in candidates:
            if _starts(parts[index:], known.entries[at].parts):
                found.append(at)
    return known.entries[min(found)] if found else None


def _scan(known: Table, parts: tuple[str, ...], under: tuple[str, ...] | None) -> Pattern | None:
    """Every pattern in turn: a glob in the path may meet any of them."""
    for entry in known.entries:
        if entry.anchor is Anchor.HOME:
            if under is not None and _starts(under, entry.parts):
                return entry
        elif entry.anchor is Anchor.ROOT:
            if _starts(parts, entry.parts):
                return entry
        elif any(_starts(parts[at:], entry.parts) for at in range(len(parts))):
            return entry
    return None


def _starts(parts: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
    return len(parts) >= len(wanted) and all(map(meets, parts, wanted))


@functools.lru_cache(maxsize=8192)
def meets(part: str, wanted: str) -> bool:
    """Whether one component, possibly a glob, can name what one pattern component names.

    A bare ``*`` stands for everything and so proves nothing; a glob counts once its own letters
    point at the pattern. As in the shell, a leading wildcard does not match a leading dot.
    """
    if part == wanted:
        return True
    if not _WILD & set(part):
        return _glob(wanted, part) if _WILD & set(wanted) else False
    if wanted.startswith("*"):  # known by its ending alone: the glob must show that ending
        return max(wanted.split("*"), key=len) in part
    fixed = _fixed_prefix(part)
    if len(fixed) < (2 if fixed.startswith(".") else 3):
        return False
    return _overlap(part, wanted)


def _fixed_prefix(part: str) -> str:
    return part[: next((at for at, letter in enumerate(part) if letter in _WILD), len(part))]


def _glob(glob: str, text: str) -> bool:
    """``*`` alone is special in our patterns; brackets and ? are not used in them."""
    head, *middle, tail = glob.split("*") if "*" in glob else [glob, ""]
    if "*" not in glob:
        return glob == text
    if not text.startswith(head) or not text.endswith(tail) or len(text) < len(head) + len(tail):
        return False
    at = len(head)
    for piece in middle:
        found = text.find(piece, at, len(text) - len(tail))
        if found < 0:
            return False
        at = found + len(piece)
    return True


def _overlap(left: str, right: str) -> bool:
    """Whether two globs have a name in common; brackets count as one unknown letter."""
    return _meet(_tokens(left), _tokens(right))


def _tokens(glob: str) -> tuple[str, ...]:
    found: list[str] = []
    at = 0
    while at < len(glob):
        if glob[at] == "[":
            end = glob.find("]", at + 2)
            if end > 0:
                found.append("?")
                at = end + 1
                continue
        found.append(glob[at])
        at += 1
    return tuple(found[:64])


def _meet(left: tuple[str, ...], right: tuple[str, ...]) -> bool:
    """Two globs meet: the classic table, one row at a time."""
    row = {0}
    row = _skip(row, right)
    for mark in left:
        if mark == "*":
            row = set(range(min(row), len(right) + 1)) if row else row
            continue
        reached: set[int] = set()
        for at in row:
            if at < len(right):
                other = right[at]
                if other == "*":
                    reached.add(at)
                elif other in (mark, "?") or mark == "?":
                    reached.add(at + 1)
        row = _skip(reached, right)
        if not row:
            return False
    return len(right) in row


def _skip(row: set[int], right: tuple[str, ...]) -> set[int]:
    """A star may stand for nothing."""
    found = set(row)
    for at in sorted(row):
        while at < len(right) and right[at] == "*":
            at += 1
            found.add(at)
    return found


class Place(enum.StrEnum):
    """Where a path lies, for what may be removed there."""

    PROJECT = "project"
    PROJECT_ROOT = "project root"
    REPOSITORY = "repository metadata"
    SCRATCH = "scratch"
    HARMLESS = "harmless"
    DEVICE = "device"
    HOME = "home"
    ROOT = "the root"
    SYSTEM = "system"
    OUTSIDE = "outside"
    DYNAMIC = "dynamic"


_SCRATCH: Final = tuple(
    components(text)
    for text in ("/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp")  # noqa: S108
)
_HARMLESS: Final = frozenset(
    "/dev/null /dev/zero /dev/full /dev/random /dev/urandom /dev/tty /dev/stdin /dev/stdout /dev/stderr "
    "/dev/ptmx".split()
)
_SYSTEM: Final = frozenset("etc usr bin sbin lib lib32 lib64 boot sys proc dev var run system nix".split())


@functools.lru_cache(maxsize=4096)
def place_of(path: str, roots: tuple[str, ...], home: str) -> Place:
    """The part of the machine that an absolute path lies in. Globs count as what they may match.

    A root that is the home, or above it, is no project: what lies there was not made by this work.
    """
    if path in _HARMLESS or path.startswith(("/dev/fd/", "/proc/self/fd/")):
        return Place.HARMLESS
    written = components(path)
    parts, whole = _anchored(written)
    wild = len(written) > len(parts)
    if not parts:
        return Place.ROOT
    own = components(home)
    if own and own[: len(parts)] == parts:
        return Place.HOME
    projects = [root for root in map(components, roots) if not _is_no_project(root, own)]
    for root in projects:
        if parts == root:
            return Place.PROJECT_ROOT if whole else Place.PROJECT
        if parts[: len(root)] == root:
            return Place.REPOSITORY if ".git" in parts[len(root) :] else Place.PROJECT
    if any(root[: len(parts)] == parts for root in projects):
        return Place.OUTSIDE  # an ancestor takes the project with it
    for root in _SCRATCH:
        # `/tmp/*` is every <something> of scratch; /tmp itself is not scratch
        if parts[: len(root)] == root and (len(parts) > len(root) or wild):
            return Place.SCRATCH
    if parts[0] == "dev":
        return Place.DEVICE
    if (parts[0] in _HOMES and len(parts) <= 2) or parts == ("root",):
        return Place.HOME
    return Place.SYSTEM if parts[0] in _SYSTEM else Place.OUTSIDE


def _is_no_project(root: tuple[str, ...], own: tuple[str, ...]) -> bool:
    """The machine, scratch itself, a home or what is above one."""
    if not root or root in _SCRATCH or own[: len(root)] == root:
        return True
    return root == ("root",) or (len(root) <= 2 and root[:1] in (("home",), ("users",)))


def _anchored(parts: tuple[str, ...]) -> tuple[tuple[str, ...], bool]:
    """The literal components before the first glob, and whether the glob takes all that is there.

    ``dir/*`` is dir as a whole; ``dir/*.o`` and ``dir/*/out`` are things inside dir.
    """
    for at, part in enumerate(parts):
        if _WILD & set(part):
            rest = parts[at:]
            return parts[:at], all(not piece.strip("*?.[]!^") for piece in rest)
    return parts, True


def place(fact: PathFact, cwd: str, roots: tuple[str, ...], home: str) -> Place:
    """Where a path fact points, by its text; a dynamic path is placed by what must come before it."""
    if fact.resolved:
        return place_of(fact.resolved, roots, home)
    known = _known_part(fact.value, cwd, home)
    if not known:
        return Place.DYNAMIC
    found = place_of(known, roots, home)
    # Above these, an empty or climbing value reaches everything; inside them it stays a thing inside.
    return found if found in (Place.SCRATCH, Place.PROJECT, Place.REPOSITORY) else Place.DYNAMIC


def _known_part(value: str, cwd: str, home: str) -> str:
    """The absolute path that a dynamic value certainly lies in or at, or ""."""
    if "\0" not in value:
        return ""
    parts = value.split("/")
    if ".." in parts:
        return ""
    kept: list[str] = []
    for part in parts:
        if part.strip("\0.") == "" and "\0" in part:
            break
        kept.append(part.replace("\0", "x"))  # `name-$x` is some name that begins so
        if "\0" in part:
            break
    text = "/".join(kept)
    if value.startswith("/"):
        # `/tmp/$x` is a thing in scratch: a mktemp name is written so, and an empty one loses scratch alone
        return f"{text}/x" if components(text) in _SCRATCH else text
    if value.startswith("~/"):
        return home + text[1:] if home else ""
    if not text or value.startswith(("~", "\0")):
        return ""
    return f"{cwd}/{text}" if cwd else ""
