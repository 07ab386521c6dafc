"""Which paths a command removes, and where they lie: its own words, and those of a search that feeds it."""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import (
    Access,
    Command,
    Operation,
    PathFact,
)
from latchd.guard.paths import Place, place, place_of
from latchd.guard.subject import Subject

_FILTERS: Final = frozenset(
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -atime -ctime -newer -empty -size "
    "-user -perm "
    "-maxdepth -links -inum -amin -cmin -nouser -nogroup -used -samefile -uid -gid -group -lname "
    "-ilname".split()
)


# Links and the like: what they lead to stays where it is.
_LINKS: Final = frozenset((option, kind) for option in ("-type", "-xtype") for kind in "lps")


_SEARCHES: Final = frozenset(("find", "gfind", "fd", "fdfind"))


_FEEDERS: Final = frozenset(("xargs", "gxargs", "parallel", "find", "gfind", "fd", "fdfind"))


_SIEVES: Final = frozenset(
    ("grep", "egrep", "fgrep", "sort", "uniq", "head", "tail", "rg")
)  # drop lines, make none


def where(subject: Subject, fact: PathFact) -> Place:
    """The place a fact points at, by its text and, when the disk was asked, by where links lead."""
    roots = subject.roots()
    fact = _mounted(subject, fact)
    lexical = place(fact, subject.facts.cwd, roots, subject.home)
    if lexical is Place.DYNAMIC and _below_temporary(subject, fact):
        return Place.SCRATCH
    if lexical is Place.DYNAMIC and (here := _below_here(subject, fact)):
        return place_of(here, roots, subject.home)
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is None or not view.real or view.real == fact.resolved or view.fault:
        return lexical
    real_roots = (*roots, *(found.real for root in roots if (found := subject.view(root)) and found.real))
    real = place_of(view.real, real_roots, subject.home)
    # a removal without a trailing slash takes the link, not what it leads to
    follows = fact.access is not Access.DELETE or fact.value.endswith("/")
    return max(lexical, real, key=_ORDER.index) if follows else lexical


def _mounted(subject: Subject, fact: PathFact) -> PathFact:
    """A path of a container as the path of this machine that is mounted there; any other as it is."""
    command = subject.facts.command(fact.command_id) if fact.resolved else None
    if command is None or not command.wrappers:
        return fact
    names = [wrapper.executable.rpartition("/")[2] for wrapper in command.wrappers]
    if "ssh" in names or not _ENGINES & set(names):
        return fact
    best = ("", "")
    for wrapper in command.wrappers:
        for source, inside in _mounts(subject, wrapper.argv):
            below = fact.resolved == inside or fact.resolved.startswith(inside.rstrip("/") + "/")
            if below and len(inside) > len(best[1]):
                best = (source, inside)
    source, inside = best
    if not source:
        return fact
    rest = fact.resolved[len(inside.rstrip("/")) :]
    return msgspec.structs.replace(fact, resolved=posixpath.normpath(source + rest))


def _mounts(subject: Subject, words: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    """Directories of this machine, and where a container sees them: `-v SOURCE:INSIDE`, `--volume=…`."""
    cwd = subject.facts.cwd
    stays = not _MOVES_AWAY.search(subject.text)
    for before, word in itertools.pairwise(words):
        name, _, value = word.partition("=")
        given = word if before in ("-v", "--volume") else value if name in ("-v", "--volume") else ""
        source, _, rest = given.partition(":")
        inside = rest.partition(":")[0]
        if not inside.startswith("/") or not cwd:
            continue
        if source == "\0":
            spelled = any(f"{mark}{quote}:{inside}" in subject.text for mark in _HERE for quote in ("", '"'))
            if spelled and stays:
                yield cwd, inside
        elif "\0" not in source and (source.startswith("/") or (stays and source.startswith("."))):
            yield posixpath.normpath(posixpath.join(cwd, source)), inside


_ENGINES: Final = frozenset(("docker", "podman", "nerdctl"))
_TEMPORARY: Final = ("$TMPDIR", "${TMPDIR}", "${TMPDIR:-/tmp}")
# TMPDIR set for good: ahead of a command the assignment is that command's alone, and comes after its words
# were expanded.
_SETS: Final = re.compile(
    r"(?:\b(?:export|declare|typeset|readonly|local|read|unset)\b[^;&|\n]{0,200}\bTMPDIR\b)"
    r"|\bTMPDIR\+?=(?:'[^']{0,256}'|\"[^\"]{0,256}\"|[^\s;&|'\"]{1,256}){0,8}\s{0,16}(?:[;&|\n)]|\Z)"
)


def _below_temporary(subject: Subject, fact: PathFact) -> bool:
    """`$TMPDIR/<something>`, where the text does not set TMPDIR itself."""
    text = subject.text
    lead, _, rest = fact.value.partition("/")
    name = rest.partition("/")[0]
    sane = lead == "\0" and name.strip(".*\0") and ".." not in rest.split("/") and not _SETS.search(text)
    return bool(sane) and any(f"{mark}/{name}" in text or f'{mark}"/{name}' in text for mark in _TEMPORARY)


_HERE: Final = ("$(pwd)", "`pwd`")
# A value that touches a substitution: together they are one unknown part of a word, as one alone would be.
_ADJOINED: Final = re.compile(r"[)`][\"']?\$|\$\{?\w+\}?[\"']?(?:\$\(|`)")
_MOVES_AWAY: Final = re.compile(r"\b(?:cd|pushd|popd|chdir)\b")


def _below_here(subject: Subject, fact: PathFact) -> str:
    """`$(pwd)/<something>`, where the text does not go elsewhere first; "" otherwise."""
    text, cwd = subject.text, subject.facts.cwd
    lead, slash, rest = fact.value.partition("/")
    if lead != "\0" or not slash or "\0" in rest or ".." in rest.split("/"):
        return ""
    if not cwd or "pwd" not in text or _MOVES_AWAY.search(text):
        return ""
    spelled = any(f"{mark}/{rest}" in text or f'{mark}"/{rest}' in text for mark in _HERE)
    return f"{cwd.rstrip('/')}/{rest}" if spelled else ""


_ORDER: Final = (
    Place.HARMLESS,
    Place.SCRATCH,
    Place.PROJECT,
    Place.DYNAMIC,
    Place.OUTSIDE,
    Place.REPOSITORY,
    Place.PROJECT_ROOT,
    Place.SYSTEM,
    Place.DEVICE,
    Place.HOME,
    Place.ROOT,
)


def shown(fact: PathFact) -> str:
    """A path as a reason names it: the resolved one, or the text with ``$…`` for dynamic parts."""
    return (fact.resolved or fact.value or "(nothing)").replace("\0", "$…")[:160]


def deleted(subject: Subject) -> Iterator[tuple[Command, PathFact, Place]]:
    """Every path that is removed, and where it is.

    A name that a search hands over lies below what the search began with; with a test among its
    words the search takes what matches, not its start as a whole.
    """
    for command, fact in subject.touched(Access.DELETE):
        if "empty-only" in command.details or "preserves-work" in command.details:
            continue
        found = where(subject, fact)
        search = searches_of(subject, command) if found is Place.DYNAMIC and not moves(command) else None
        if search is None:
            yield command, fact, _matched(subject, fact, narrowed=_filtered(command))
            continue
        for start in subject.facts.paths:
            if start.command_id in search.ids and start.access is Access.LIST:
                recursive = fact.recursive or bool(start.resolved)
                begun = msgspec.structs.replace(
                    start, command_id=command.id, access=Access.DELETE, recursive=recursive
                )
                yield command, begun, _matched(subject, begun, narrowed=search.narrowed)


def found_below(subject: Subject, command: Command) -> Iterator[PathFact]:
    """Something below each place where the searches begin that name this command's targets.

    A link is made where the command runs, whatever it leads to.
    """
    search = searches_of(subject, command) if command.program not in ("ln", "gln") else None
    if search is None:
        return
    for start in subject.facts.paths:
        if start.command_id in search.ids and start.access is Access.LIST and start.resolved:
            yield msgspec.structs.replace(
                start, command_id=command.id, resolved=f"{start.resolved.rstrip('/')}/x", value="x"
            )


class Search(msgspec.Struct, frozen=True):
    """What names a command's targets: searches by id, and whether only some of what they find is named."""

    ids: frozenset[int]
    narrowed: bool


def _matched(subject: Subject, fact: PathFact, *, narrowed: bool) -> Place:
    """Where the removed things lie: below the start when only some are taken, else the start itself."""
    if not narrowed or not fact.resolved:
        return where(subject, fact)
    return where(subject, msgspec.structs.replace(fact, resolved=f"{fact.resolved.rstrip('/')}/x", value="x"))


def is_fed(command: Command) -> bool:
    return any(wrapper.executable.rpartition("/")[2] in _FEEDERS for wrapper in command.wrappers)


def searches_of(subject: Subject, command: Command) -> Search | None:
    """The searches that name this command's targets; None when anything else may name them too."""
    if not is_fed(command):
        # `rm $(find …)`: the one word that is not known, and nothing else comes in
        dynamic = [word.value for word in command.arguments[1:] if "\0" in word.value]
        known = dynamic == ["\0"] and not _ADJOINED.search(subject.text)
        found = _feeding(subject, command.id) if known else None
        if found is None or not _MOVES_AWAY.search(subject.text):
            return found
        # names found in one directory may be used in another, unless the search is in this very word
        starts = (subject.facts.command(each) for each in found.ids)
        return found if all(start is not None and start.parent == command.id for start in starts) else None
    owner = subject.facts.command(command.parent)
    while owner is not None and owner.program not in _FEEDERS:
        owner = subject.facts.command(owner.parent)
    if owner is None:
        return None
    if owner.program in _SEARCHES:
        return Search(frozenset((owner.id,)), _filtered(owner))
    return _feeding(subject, owner.id)


def _feeding(subject: Subject, command_id: int) -> Search | None:
    found: set[int] = set()
    narrowed = True
    sieved = False
    waiting, seen = [command_id], {command_id}
    while waiting:
        at = waiting.pop()
        feeders = [
            flow.from_command for flow in subject.facts.flows if flow.to_command == at and flow.from_command
        ]
        if not feeders:
            return None
        for feeder in feeders:
            source = subject.facts.command(feeder)
            if source is None or source.program not in _SEARCHES | _SIEVES:
                return None
            if source.program in _SEARCHES:
                found.add(source.id)
                narrowed = narrowed and _filtered(source)
            elif feeder not in seen:
                sieved = sieved or source.program not in ("sort", "uniq")
                seen.add(feeder)
                waiting.append(feeder)
    return Search(frozenset(found), narrowed or sieved)


def searches_below(command: Command) -> bool:
    """Whether the command itself takes what its search finds, and not its start."""
    return command.program in _SEARCHES


def moves(command: Command) -> bool:
    """Moving keeps the content, so it is told apart from removing."""
    return Operation.MOVE in command.operations


def _filtered(command: Command) -> bool:
    if command.program not in ("find", "gfind"):
        return command.program in _SEARCHES
    return _narrows(command.argv)


def _narrows(words: Sequence[str]) -> bool:
    """Whether each alternative of a search has a test of its own; one that prunes takes nothing."""
    depth = 0
    sides: list[list[str]] = [[]]
    groups: list[list[list[str]]] = [[]]
    for word in words:
        opens, closes = word == "(", word == ")" and depth > 0
        if opens and depth == 0:
            groups[-1].append([])
        elif depth > 0 and not (closes and depth == 1):
            groups[-1][-1].append(word)
        elif word in ("-o", "-or", ",") and depth == 0:
            sides.append([])
            groups.append([])
        elif depth == 0:
            sides[-1].append(word)
        depth += opens - closes
    return all(
        "-prune" in side
        or any(word in _FILTERS or word.startswith("-newer") for word in side)
        or any(pair in _LINKS for pair in itertools.pairwise(side))
        or any(map(_narrows, inner))
        for side, inner in zip(sides, groups, strict=True)
    )


_CONTAINERS: Final = frozenset("docker podman nerdctl docker-compose kubectl oc".split())
_MOUNTS: Final = ("-v", "--volume", "--mount")


def is_contained(command: Command) -> bool:
    """Whether a command runs inside a container that sees none of this machine's files by a mount."""
    names = [wrapper.executable.rpartition("/")[2] for wrapper in command.wrappers]
    mounted = any(word.startswith(_MOUNTS) for wrapper in command.wrappers for word in wrapper.argv)
    return bool(_CONTAINERS & set(names)) and not mounted


def is_elsewhere(command: Command) -> bool:
    """Whether the paths of a command are those of a container or of another machine."""
    remote = any(wrapper.executable.rpartition("/")[2] == "ssh" for wrapper in command.wrappers)
    return remote or is_contained(command)


def takes_all(fact: PathFact) -> bool:
    """Whether what is at the path goes as a whole: recursively, or by a glob that matches everything."""
    return fact.recursive or (fact.globs and not fact.value.rpartition("/")[2].strip("*?.[]!^"))
