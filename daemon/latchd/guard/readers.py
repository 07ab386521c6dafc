"""Readers by exclusion: whatever touches a path and isn't proven to do less is taken to read it.

The shell's grammar proves listing and metadata; every tool that is no write, edit or patch reads the
paths in its arguments, known to the guard or not.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.facts import Access, Command, PathFact
from latchd.guard.places import credential
from latchd.guard.subject import Subject


def read_paths(subject: Subject) -> Iterator[tuple[Command, PathFact]]:
    """Every path whose content a command or tool of this call reads, and may show or pass on."""
    for command, fact in subject.touched(Access.READ):
        if command.program not in _COUNTERS and not _is_own_login(command, fact):
            yield command, fact


_COUNTERS: Final = frozenset(("wc", "gwc"))  # how much there is, never what
# Options by which a program is told with what to log in, or what to fill in: it uses the file and keeps it.
_LOGINS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        program: frozenset(options.split())
        for programs, options in (
            ("kubectl oc helm k9s flux", "--kubeconfig"),
            (
                "curl",
                "--netrc-file -E --cert --key --cacert --proxy-cert --proxy-key --proxy-cacert",
            ),
            ("wget wget2", "--certificate --private-key --ca-certificate"),
            ("terraform tofu", "-var-file --var-file"),
            (
                "mysql mariadb mysqldump",
                "--defaults-file --defaults-extra-file --ssl-key --ssl-cert --ssl-ca",
            ),
            ("ssh scp sftp rsync autossh", "-i -F"),
        )
        for program in programs.split()
    }
)


def _is_own_login(command: Command, fact: PathFact) -> bool:
    """Whether a path is what a program logs in with, and nothing else of the command."""
    options = _LOGINS.get(command.program)
    if options is None:
        return False
    words = command.argv[1:]
    named = [at for at, word in enumerate(words) if word.endswith(fact.value)]  # `@.env` names it too
    return bool(named) and all(
        words[at].partition("=")[0] in options or (at > 0 and words[at - 1] in options) for at in named
    )


def secret_behind(subject: Subject, fact: PathFact) -> str:
    """The credential pattern that a path meets, by its text or by where its links lead; "" when none."""
    if found := credential(fact.resolved or fact.value, subject.home):
        return found
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is not None and view.real and view.real != fact.resolved:
        return credential(view.real, subject.home)
    return ""
