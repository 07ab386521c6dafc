"""What uses the machine up: output without an end into a file, programs that start themselves without an end.

Nothing is lost by it but the machine's time and room, and whoever works on it waits; a person is asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command
from latch_contracts.verdict import Route, Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_ENDLESS: Final = ("/dev/zero", "/dev/urandom", "/dev/random")
_READERS: Final = frozenset("cat dd tail tac sort tr base64".split())
_HUGE: Final = re.compile(r"(?:[1-9]\d{0,8}[TPE]i?B?|[1-9]\d{3,8}[Gg]i?B?|[1-9]\d{12,18})\Z")
_SIZED: Final = frozenset("fallocate truncate head mkfile dd".split())


def _endless(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if _has_no_end(subject, command) and _keeps(command):
            yield Hit(
                command.id,
                command.program,
                f"what `{command.program[:40]}` writes has no end, and fills the disk",
                "say how much, as in `head -c 10M` or `dd … count=10`",
            )
        elif command.program in _SIZED and any(_HUGE.match(_size(word)) for word in command.argv[1:]):
            yield Hit(
                command.id,
                command.program,
                "this asks for more room than a disk of this machine is likely to have",
                "take a size that is needed",
            )


def _size(word: str) -> str:
    """The value of `-l1T`, `--length=1T`, `bs=1T`; the word itself where it has none."""
    return word.rpartition("=")[2] if "=" in word else re.sub(r"\A-{1,2}[a-z](?=\d)", "", word)


def _has_no_end(subject: Subject, command: Command) -> bool:
    words = command.argv[1:]
    if command.program == "yes":
        return not any(word in ("--help", "--version") for word in words)
    if command.program not in _READERS:
        return False
    taken = {redirect.target for redirect in command.redirects if redirect.access is Access.READ}
    named = {word.removeprefix("if=") for word in words} | taken
    counted = any(word.startswith(("count=", "-c", "-n", "--bytes", "--lines")) for word in words)
    return bool(named & set(_ENDLESS)) and not counted


def _keeps(command: Command) -> bool:
    """Whether it goes into a file that keeps it, or into a memory that holds it until the end comes."""
    files = [
        redirect.target
        for redirect in command.redirects
        if redirect.access in (Access.WRITE, Access.APPEND) and redirect.fd in (1, -1)
    ]
    files += [word[3:] for word in command.argv[1:] if command.program == "dd" and word.startswith("of=")]
    kept = [name for name in files if not name.startswith(("/dev/", "&"))]
    return bool(kept) or (command.program in ("tail", "tac", "sort") and not files)


_LANGUAGES: Final = re.compile(r"(?:perl|ruby|python[\d.]{0,5}|node|nodejs|bun|php)\Z")
_FORKS: Final = re.compile(
    r"\bfork\s{1,4}while\b|\bloop\s{0,4}(?:\{|do)\s{0,4}fork\b|\bwhile\s{0,4}\(?(?:1|True|true|!0)\)?\s{0,4}[:{]?\s{0,8}(?:os\.)?(?:pcntl_)?fork\b"
    r"|\bos\.fork\(\)\s{0,4}for\b[^\n]{0,60}\biter\s{0,2}\(|\bwhile\s{0,2}\((?:1|true)\)\s{0,4}\{?\s{0,4}[^;\n]{0,80}\.(?:spawn|fork|exec)\s{0,2}\("
)
_LOOPED: Final = re.compile(
    r"(?:while\s{1,4}(?:true|:|1|\(\(\s{0,2}1\s{0,2}\)\))\s{0,4};?|until\s{1,4}false\s{0,4};?|for\s{0,2}\(\(\s{0,2};\s{0,2};\s{0,2}\)\)\s{0,4};?)"
    r"\s{0,8}do\s{1,8}[^;&|\n]{1,64}&\s{0,4}(?:;\s{0,4})?done\b"
)


def _forks(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        coded = _LANGUAGES.match(command.program) is not None and "inline-code" in command.details
        if coded and any(_FORKS.search(word) for word in command.argv[1:]):
            yield _forked(command.id)
    if "&" in subject.text and _LOOPED.search(subject.text[:65_536]):
        yield _forked(0)


def _forked(command_id: int) -> Hit:
    return Hit(command_id, "fork", "this starts programs without an end", "start as many as are needed")


RULES: Final = (
    Rule(
        "abuse.endless-output",
        "output without an end is kept",
        Group.UNUSUAL,
        Severity.HIGH,
        _endless,
        denies=(
            "yes > x",
            "cat /dev/zero > x",
            "dd if=/dev/zero of=x",
            "fallocate -l 1T x",
            "head -c 1T /dev/zero > x",
            "tail /dev/zero",
        ),
        passes=(
            "yes | head -3 > x",
            "yes | apt-get install jq",
            "yes > /dev/null",
            "dd if=/dev/zero of=x bs=1M count=10",
            "head -c 10M /dev/urandom > x",
            "fallocate -l 1G x",
            "cat /dev/null > x",
            "head -c 32 /dev/urandom | base64",
            "tr -dc a-z < /dev/urandom | head -c 8",
            "truncate -s 0 a.log",
        ),
    ),
    Rule(
        "abuse.endless-forks",
        "programs are started without an end",
        Group.UNUSUAL,
        Severity.HIGH,
        _forks,
        denies=(
            "perl -e 'fork while 1'",
            "python3 -c 'import os\nwhile 1: os.fork()'",
            "ruby -e 'loop { fork }'",
            "while true; do bash & done",
            "for ((;;)); do ./x & done",
        ),
        passes=(
            "while true; do date; sleep 5; done",
            "for i in 1 2 3; do ./x & done; wait",
            "while true; do ./serve & wait; done",
            "python3 -c 'import os; os.fork()'",
            "perl -e 'print 1 while <>'",
        ),
        route=Route.FALLBACK,
    ),
)
