"""What is in force in a directory: the person's policy and rules, tightened by the project's own.

The nearest ``.latchd.toml`` and the nearest ``.latchd/rules`` count, each by itself: a directory further in
that has the one must not hide the other.
"""

from __future__ import annotations

import errno
import os
import posixpath
import stat
from pathlib import Path
from typing import Final

import msgspec

from latch_contracts.canonical import digest
from latchd.policy import MAX_CONFIG_BYTES, Policy, PolicyError, fingerprint, tighten
from latchd.rules.bundled import released
from latchd.rules.generation import Generation
from latchd.rules.pack import PackError
from latchd.rules.standing import PROJECT_DIRECTORY, RulesError, Stamp, stamp, tightened

NAME: Final = ".latchd.toml"
# A file that is not there is no wish; one that is there and can't be looked at may be one.
_ABSENT: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ENAMETOOLONG, errno.EACCES})
_KEPT: Final = 256  # project files remembered; more than anyone works in between two restarts


class InForce(msgspec.Struct, frozen=True):
    """What a call in some directory is judged by.

    ``own`` tells what the project adds from anything else it could add; empty where it adds nothing.
    """

    policy: Policy
    rules: Generation
    own: bytes = b""


class Projects:
    """Reads project files when they change. The nearest one above the working directory counts.

    ``rules`` are the person's; without any they are the release's.
    """

    def __init__(self, policy: Policy, rules: Generation | None = None) -> None:
        self._policy = policy
        self._rules = released() if rules is None else rules
        self._packs: dict[str, tuple[Stamp, Generation | PolicyError]] = {}
        self._read: dict[str, tuple[tuple[int, int, int], Policy | PolicyError]] = {}

    def at(self, cwd: str) -> InForce:
        """Raises PolicyError, naming the file, when a file of the project's can't be used."""
        policy, rules = self.policy_at(cwd), self.rules_at(cwd)
        if policy is self._policy and rules is self._rules:
            return InForce(policy, rules)
        return InForce(policy, rules, digest([fingerprint(policy), rules.fingerprint]))

    def rules_at(self, cwd: str) -> Generation:
        """The person's rules with the project's on top. Raises PolicyError."""
        if not cwd.startswith("/"):
            return self._rules
        place: str = posixpath.normpath(cwd)
        while True:
            path = posixpath.join(place, PROJECT_DIRECTORY)
            try:
                os.lstat(path)
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno not in _ABSENT:
                    raise PolicyError(f"`{path}`: {(error.strerror or 'unreadable').lower()}") from error
                if place in ("/", "//"):
                    return self._rules
                place = posixpath.dirname(place)
                continue
            found = self._rules_of(path)
            if isinstance(found, PolicyError):
                raise found
            return found

    def _rules_of(self, directory: str) -> Generation | PolicyError:
        try:
            seen = stamp(directory)
        except PackError as error:
            return PolicyError(str(error))
        known = self._packs.get(directory)
        if known is not None and known[0] == seen:
            return known[1]
        found: Generation | PolicyError
        try:
            found = tightened(self._rules, directory)
        except RulesError as error:
            found = PolicyError(str(error))
        if len(self._packs) >= _KEPT:
            self._packs.clear()
        self._packs[directory] = (seen, found)
        return found

    def policy_at(self, cwd: str) -> Policy:
        """Raises PolicyError, naming the file, when the project's file can't be used."""
        if not cwd.startswith("/"):
            return self._policy
        place: str = posixpath.normpath(cwd)
        while True:
            path = posixpath.join(place, NAME)
            try:
                status = os.stat(path)  # noqa: PTH116 (a Path object per probe costs more than the probe)
            except (OSError, ValueError) as error:
                if isinstance(error, OSError) and error.errno not in _ABSENT:
                    raise PolicyError(f"`{path}`: {(error.strerror or 'unreadable').lower()}") from error
                if place in ("/", "//"):
                    return self._policy
                place = posixpath.dirname(place)
                continue
            if not stat.S_ISREG(status.st_mode):  # reading a pipe would wait for ever
                raise PolicyError(f"`{path}` is not a regular file")
            found = self._policy_of(Path(path), (status.st_mtime_ns, status.st_size, status.st_ino))
            if isinstance(found, PolicyError):
                raise found
            return found

    def _policy_of(self, path: Path, stamp: tuple[int, int, int]) -> Policy | PolicyError:
        known = self._read.get(str(path))
        if known is not None and known[0] == stamp:
            return known[1]
        policy: Policy | PolicyError
        try:
            with os.fdopen(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK), "rb") as file:
                policy = tighten(self._policy, file.read(MAX_CONFIG_BYTES + 1))
        except PolicyError as error:
            policy = PolicyError(f"`{path}`: {error}")
        except OSError as error:
            policy = PolicyError(f"`{path}`: {(error.strerror or 'unreadable').lower()}")
        if len(self._read) >= _KEPT:
            self._read.clear()
        self._read[str(path)] = (stamp, policy)
        return policy
