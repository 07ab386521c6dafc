"""The rules in force: those of this release, the person's packs, and a project's on top. Reads the disk.

A directory of packs is taken whole or refused whole, with file, line and reason; whoever asked keeps what
it had. No link is followed, for what it leads to may change without the directory showing it.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from typing import Final

from latchd.policy import Policy
from latchd.rules.bundled import ENGINE, bundled
from latchd.rules.compiling import Entry, entries
from latchd.rules.generation import Generation, GenerationError, generation, with_packs
from latchd.rules.pack import MAX_ALL, MAX_FILE, MAX_FILES, PackError, PackFile, parse
from latchd.rules.trying import OWN, PROJECTS, Most, planned, refusal

DIRECTORY: Final = "rules"  # below the config directory
PROJECT_DIRECTORY: Final = ".latchd/rules"  # below a project's root
_ENDING: Final = ".yaml"


class RulesError(Exception):
    """The rules can't be used; the text is one line: file, line and reason."""


Stamp = tuple[tuple[str, int, int, int], ...]


def standing(policy: Policy, directory: str) -> Generation:
    """The release's rules and the packs of the person's directory, without what the policy disables.

    The person's expressions are compiled here, the release's when a call first needs one: most never do, and
    a start need not wait for them. Raises RulesError.
    """
    return next(made for made in standing_in_steps(policy, directory) if made is not None)


def standing_in_steps(policy: Policy, directory: str) -> Iterator[Generation | None]:
    """The same in small pieces of work: None after each file read and each rule compiled, at last the rules.

    So whoever answers calls meanwhile can answer them between any two: 500 rules take a third of a second.
    Raises RulesError.
    """
    found: list[Entry] = []
    try:
        files: list[PackFile] = []
        for file in _files(directory):
            files.append(file)
            yield None
        for entry in entries(files, ENGINE):
            found.append(entry)
            yield None
        yield generation([*bundled(), *found], policy.rules.disable)
    except (PackError, GenerationError) as error:
        raise RulesError(str(error)) from None


def tightened(base: Generation, directory: str) -> Generation:
    """A generation with a project's packs on top: they add rules and take none away. Raises RulesError."""
    try:
        rules = with_packs(base, packs(directory))
    except (PackError, GenerationError) as error:
        raise RulesError(str(error)) from None
    return _held(rules, directory, PROJECTS)


def tried(policy: Policy, directory: str) -> Generation:
    """The rules of ``standing``, once the person's own hold on their examples. Raises RulesError."""
    return _held(standing(policy, directory), directory, OWN)


def _held(rules: Generation, directory: str, most: Most) -> Generation:
    """These rules, unless those of the directory don't hold on their examples. Raises RulesError."""
    if fault := refusal(planned(rules, brought(rules, directory), most)):
        raise RulesError(str(fault))
    return rules


def brought(rules: Generation, directory: str) -> tuple[Entry, ...]:
    """The rules of a generation that this directory's packs bring."""
    return tuple(entry for entry in rules.entries if entry.source.startswith(f"{directory}/"))


def packs(directory: str) -> Sequence[Entry]:
    """The rules of a directory's packs, by file name; none without a directory. Raises PackError."""
    return tuple(entries(read(directory), ENGINE))


def read(directory: str) -> list[PackFile]:
    """The packs in a directory. Raises PackError."""
    return list(_files(directory))


def _files(directory: str) -> Iterator[PackFile]:
    left = MAX_ALL
    for name, *_ in stamp(directory):
        path = f"{directory}/{name}"
        content = content_of(path)
        left -= len(content)
        if left < 0:
            raise PackError(path, 1, f"the packs have more than {MAX_ALL} bytes in all")
        yield parse(content, path)


def stamp(directory: str) -> Stamp:
    """What tells this directory's packs from changed ones, by name; () without one. Raises PackError."""
    found: list[tuple[str, int, int, int]] = []
    try:
        with os.scandir(directory) as listing:
            for entry in listing:
                if entry.name.startswith("."):
                    continue  # what editors leave
                path = f"{directory}/{entry.name}"
                if entry.is_symlink():
                    raise PackError(path, 1, "links are not admitted")
                if entry.name.endswith(_ENDING):
                    status = entry.stat(follow_symlinks=False)
                    found.append((entry.name, status.st_mtime_ns, status.st_size, status.st_ino))
                elif entry.name.endswith((".yml", ".json", ".toml")):
                    raise PackError(path, 1, f"a pack's name ends in `{_ENDING}`")
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise PackError(directory, 1, (error.strerror or "unreadable").lower()) from None
    if len(found) > MAX_FILES:
        raise PackError(directory, 1, f"there are {len(found)} packs, the limit is {MAX_FILES}")
    return tuple(sorted(found))


def content_of(path: str) -> bytes:
    """The bytes of one pack, at most one more than it may have. Raises PackError."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOFOLLOW)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise PackError(path, 1, "is not a regular file")
            return file.read(MAX_FILE + 1)
    except OSError as error:
        raise PackError(path, 1, (error.strerror or "unreadable").lower()) from None
