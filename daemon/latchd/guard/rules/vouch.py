"""What the guard can't vouch for: unknown command words, and text that can't be read.

Not knowing is never an allow. What can be seen of the unknown decides between a question and a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import (
    Command,
    Dialect,
    Grammar,
    Issue,
    Kind,
    Operation,
    Status,
)
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.paths import Place, place_of
from latchd.guard.places import credential, persistence, protected
from latchd.guard.rule import Hit, Rule
from latchd.guard.rules.programs import fed_by_commands
from latchd.guard.subject import Subject
from latchd.shell.facts import analyze

_INSTEAD: Final = "write the command out with its name and arguments in plain text"


_UNREAD: Final = frozenset(
    (
        Issue.INVALID_SYNTAX,
        Issue.INVALID_UTF8,
        Issue.CONTROL_BYTES,
        Issue.PARSER_SILENCE,
        Issue.NODE_LIMIT,
        Issue.DEPTH_LIMIT,
        Issue.INPUT_LIMIT,
        Issue.FACT_LIMIT,
        Issue.WRAPPER_LIMIT,
        Issue.TIME_LIMIT,
        Issue.INTERNAL_PARSER_FAILURE,
    )
)


_DESTRUCTIVE_TEXT: Final = re.compile(
    r"(?:^|[\s;&|({`'\"/\\])(?:rm\s{1,8}(?:-[\w-]{1,32}\s{1,8}){0,8}-\w{0,16}[rR]|rm\s{1,8}-\w{0,16}f|mkfs|dd\s[^;|]{0,256}of=/dev/"
    r"|shred\s|wipefs"
    r"|git\s{1,8}(?:\S{1,64}\s{1,8}){0,6}?(?:reset\s{1,8}--hard|clean\s{1,8}-\w{0,16}f"
    r"|push\s{1,8}(?:\S{1,64}\s{1,8}){0,6}?(?:-f\b|--force\b))|chmod\s{1,8}-R|chown\s{1,8}-R"
    r"|find\s[^;|]{0,256}-delete|drop\s{1,8}(?:table|database)|truncate\s{1,8}table)",
    re.IGNORECASE,
)


_TAIL_TARGETS: Final = ("/", "~")


def _looks_destructive(words: tuple[str, ...]) -> bool:
    """Options that ask for recursion or force, and a target outside any project."""
    options = [word for word in words if word.startswith("-")]
    targets = [word for word in words if word.startswith(_TAIL_TARGETS) or word in ("..", ".", "*")]
    forced = any(
        word in ("--recursive", "--force", "--hard", "--delete", "-delete")
        or (not word.startswith("--") and {"r", "f"} <= set(word.lower()))
        for word in options
    )
    return (forced and bool(targets)) or _DESTRUCTIVE_TEXT.search(" ".join(words)) is not None


def _unresolved(command: Command) -> bool:
    return command.kind is Kind.PROCESS and not command.program and bool(command.executable or command.argv)


def _vouched(subject: Subject, command: Command) -> bool:
    return any(
        command.program == entry or (entry.endswith("/") and command.executable.startswith(entry))
        for entry in subject.policy.allow.programs
    )


def _word_destructive(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if _unresolved(command) and _looks_destructive(command.argv[1:]):
            yield _unknown_word(command)


def _word(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        vouched = _vouched(subject, command) or _is_generated(subject, command)
        if _unresolved(command) and not vouched and not _looks_destructive(command.argv[1:]):
            yield _unknown_word(command)


def _is_generated(subject: Subject, command: Command) -> bool:
    """The wholly unknown text that an `eval` got from a shell-setup generator."""
    owner = subject.facts.command(command.parent)
    return (
        owner is not None
        and owner.program in ("eval", "source", ".")
        and command.argv == ("\0",)
        and any(flow.to_command == owner.id for flow in subject.facts.flows)
        and not fed_by_commands(subject, owner)
    )


def _unknown_word(command: Command) -> Hit:
    word = command.executable.replace("\0", "$…")[:60]
    return Hit(command.id, word, f"which program `{word}` is, is known only when it runs", _INSTEAD)


def _suspected(subject: Subject) -> Iterator[Hit]:
    parents = {command.parent for command in subject.facts.commands}
    for command in subject.acting():
        tail = command.suspected_child or _takes_the_machine(command)
        if tail and _is_everyday(subject, command):
            continue
        if tail and command.id not in parents:  # a child that is listed is judged itself
            yield Hit(
                command.id,
                tail[:60],
                f"`{command.program[:40]}` is not known, and the words after it are a dangerous command",
                "run that command by itself, so that it can be judged",
            )


# What a tail may do, by its own facts, that would pass without a word if it stood alone.
_EVERYDAY: Final = frozenset(
    map(Operation, "execute read list search write delete copy move permission_change".split())
)
_EVERYDAY_DETAILS: Final = frozenset(("recursive", "force", "script", "unknown-option", "names-only"))
_HERE: Final = frozenset((Place.PROJECT, Place.SCRATCH))
_MOST_TAIL: Final = 500  # a longer one was cut


def _is_everyday(subject: Subject, command: Command) -> bool:
    """Whether the tail by itself does only what any command may do in the project: `shx rm -rf dist`.

    A directory among the words before it may be where the tail runs, and nothing is proven then.
    """
    tail = command.suspected_child
    ahead = command.argv[1 : max(1, len(command.argv) - len(tail.split()))]
    if (
        not tail
        or "\0" in tail
        or len(tail) > _MOST_TAIL
        or any("/" in each or ".." in each for each in ahead)
    ):
        return False
    facts = analyze(tail, cwd=subject.facts.cwd, home=subject.home)
    roots = subject.roots()
    return (
        facts.status is Status.COMPLETE
        and all(
            set(each.operations) <= _EVERYDAY and set(each.details) <= _EVERYDAY_DETAILS
            for each in facts.commands
        )
        and all(
            bool(fact.resolved)
            and place_of(fact.resolved, roots, subject.home) in _HERE
            and not credential(fact.resolved, subject.home)
            and not (protected(fact.resolved, subject.home, ()) or persistence(fact.resolved, subject.home))
            for fact in facts.paths
        )
    )


_ALL: Final = frozenset(("/", "/*", "~", "~/", "/home", "/root"))


def _takes_the_machine(command: Command) -> str:
    """`-rf /` behind a program that nobody knows; "" otherwise."""
    if command.grammar is Grammar.KNOWN or not command.program:
        return ""
    options = [word for word in command.argv[1:4] if word.startswith("-") and not word.startswith("--")]
    forced = any({"r", "f"} <= set(word.lower()) for word in options)
    target = next((word for word in command.argv[1:] if word in _ALL), "")
    return f"-rf {target}" if forced and target else ""


def _unread(subject: Subject) -> bool:
    facts = subject.facts
    if not subject.is_shell or facts.dialect in (Dialect.POWERSHELL, Dialect.CMD):
        return False
    if _UNREAD & set(facts.issues) or facts.status in (
        Status.LIMIT_EXCEEDED,
        Status.AMBIGUOUS,
        Status.UNSUPPORTED,
    ):
        return True
    return facts.status is not Status.COMPLETE and not facts.commands and bool(subject.text.strip())


_TALK: Final = re.compile(r"\s*(?:echo|printf|rg|grep)\s[^\n;&|`$]*\Z")


_UNBRACED: Final = {ord(mark): " " for mark in "{},"}


def _looks_unread_destructive(subject: Subject) -> bool:
    """Asked once of a text: it may be long, and two rules hang on the answer."""
    known, text = subject.work.destroys, subject.text
    if text not in known:
        known[text] = _text_destroys(text)
    return known[text]


def _text_destroys(text: str) -> bool:
    """A destructive command in text that could not be read; braces may hold its words."""
    text = text[:65_536]
    for spelling in dict.fromkeys((text, text.translate(_UNBRACED))):
        found = _DESTRUCTIVE_TEXT.search(spelling)
        if found and not _TALK.match(spelling[: found.start()] + " "):
            return True
    return False


def _unreadable_destructive(subject: Subject) -> Iterator[Hit]:
    if _unread(subject) and _looks_unread_destructive(subject):
        yield Hit(
            0,
            _why(subject),
            f"the command can't be read whole ({_why(subject)}) and looks destructive",
            _INSTEAD,
        )


def _unreadable(subject: Subject) -> Iterator[Hit]:
    if _unread(subject) and not _looks_unread_destructive(subject):
        yield Hit(
            0,
            _why(subject),
            f"the command can't be read whole ({_why(subject)})",
            "split it into simple commands",
        )


def _why(subject: Subject) -> str:
    return (
        ", ".join(issue.value.replace("_", " ") for issue in subject.facts.issues[:3])
        or subject.facts.status.value
    )


RULES: Final = (
    Rule(
        "vouch.destructive-word",
        "an unknown program with a destructive tail",
        Group.CANNOT_VOUCH_DESTRUCTIVE,
        Severity.HIGH,
        _word_destructive,
        denies=("$C -rf /", '"$(pick)" -rf ~/x'),
        passes=("$C --version", "ls -rf /"),
    ),
    Rule(
        "vouch.unread-destructive",
        "text that can't be read, and looks destructive",
        Group.CANNOT_VOUCH_DESTRUCTIVE,
        Severity.HIGH,
        _unreadable_destructive,
        denies=("if ( rm -rf /x",),
        passes=("if (",),
    ),
    Rule(
        "vouch.unknown-word",
        "which program runs is not known",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _word,
        denies=(
            "$C a",
            '"$X/tool" a',
            '"$(./pick)" --flag',
            'eval "$(PATH=./x ssh-agent -s)"',
        ),
        passes=(
            "$JAVA_HOME/bin/java -version",
            '"$X/bin/python" -m pytest',
            "C=ls; $C -l",
            "ls $C",
            'eval "$(ssh-agent -s)"',
            '"$(which python3)" -V',
        ),
    ),
    Rule(
        "vouch.suspected-child",
        "a dangerous command behind an unknown program",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _suspected,
        denies=(
            "mywrap rm -rf /home/dev/x",
            "mytool -rf /",
            "mywrap --in / rm -rf home",
            "mywrap bash -c 'rm -rf x'",
            "mywrap rm -rf .",
        ),
        passes=(
            "mytool build",
            "mytool -rf ./x",
            "mytool --prefer /",
            "npx shx rm -rf dist",
            "codegen generate -i api.yml -g python -o client",
        ),
    ),
    Rule(
        "vouch.unread",
        "text that can't be read",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _unreadable,
        denies=("if (",),
        passes=("if true; then ls; fi",),
    ),
)
