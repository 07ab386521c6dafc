"""What the guard can't vouch for: a command word that is not known, input that is run, text that can't be read.

Not knowing is never an allow. What can be seen of the unknown decides between a question and a refusal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Command, Dialect, Issue, Kind, Operation, Status
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_INSTEAD: Final = "write the command out with its name and arguments in plain text"
_UNREAD: Final = frozenset(
    (
        Issue.INVALID_SYNTAX, Issue.INVALID_UTF8, Issue.CONTROL_BYTES, Issue.PARSER_SILENCE, Issue.NODE_LIMIT, Issue.DEPTH_LIMIT,
        Issue.INPUT_LIMIT, Issue.FACT_LIMIT, Issue.WRAPPER_LIMIT, Issue.TIME_LIMIT, Issue.INTERNAL_PARSER_FAILURE,
    )
)
_DESTRUCTIVE_TEXT: Final = re.compile(
    r"(?:^|[\s;&|({`'\"/\\])(?:rm\s+(?:-[\w-]+\s+)*-\w*[rR]|rm\s+-\w*f|mkfs|dd\s[^;|]*of=/dev/|shred\s|wipefs"
    r"|git\s+(?:\S+\s+)*?(?:reset\s+--hard|clean\s+-\w*f|push\s+(?:\S+\s+)*?(?:-f\b|--force\b))|chmod\s+-R|chown\s+-R"
    r"|find\s[^;|]*-delete|drop\s+(?:table|database)|truncate\s+table)",
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
        if _unresolved(command) and not _vouched(subject, command) and not _looks_destructive(command.argv[1:]):
            yield _unknown_word(command)


def _unknown_word(command: Command) -> Hit:
    word = command.executable.replace("\0", "$…")[:60]
    return Hit(command.id, word, f"which program `{word}` is, is known only when it runs", _INSTEAD)


def _suspected(subject: Subject) -> Iterator[Hit]:
    parents = {command.parent for command in subject.facts.commands}
    for command in subject.acting():
        if command.suspected_child and command.id not in parents:  # a child that is listed is judged itself
            yield Hit(
                command.id,
                command.suspected_child[:60],
                f"`{command.program[:40]}` is not known, and the words after it are a dangerous command",
                "run that command by itself, so that it can be judged",
            )


def _input(subject: Subject) -> Iterator[Hit]:
    """An interpreter that runs what another command writes: the program is not in the text."""
    parents = {command.parent for command in subject.facts.commands}
    for command in subject.acting():
        if Operation.RUN_INPUT not in command.operations or command.id in parents:
            continue
        yield Hit(
            command.id,
            command.program,
            f"`{command.program[:40]}` runs what it gets as input, and that is known only when it runs",
            "put the commands themselves into the call",
        )


def _text(subject: Subject) -> str:
    call = subject.event.call
    return (call.command or "") if call is not None else ""


def _unread(subject: Subject) -> bool:
    facts = subject.facts
    if not subject.is_shell or facts.dialect in (Dialect.POWERSHELL, Dialect.CMD):
        return False
    if _UNREAD & set(facts.issues) or facts.status in (Status.LIMIT_EXCEEDED, Status.AMBIGUOUS, Status.UNSUPPORTED):
        return True
    return facts.status is not Status.COMPLETE and not facts.commands and bool(_text(subject).strip())


def _unreadable_destructive(subject: Subject) -> Iterator[Hit]:
    if _unread(subject) and _DESTRUCTIVE_TEXT.search(_text(subject)[:65536]):
        yield Hit(0, _why(subject), f"the command can't be read whole ({_why(subject)}) and looks destructive", _INSTEAD)


def _unreadable(subject: Subject) -> Iterator[Hit]:
    if _unread(subject) and not _DESTRUCTIVE_TEXT.search(_text(subject)[:65536]):
        yield Hit(0, _why(subject), f"the command can't be read whole ({_why(subject)})", "split it into simple commands")


def _why(subject: Subject) -> str:
    return ", ".join(issue.value.replace("_", " ") for issue in subject.facts.issues[:3]) or subject.facts.status.value


RULES: Final = (
    Rule(
        "vouch.destructive-word", "an unknown program with a destructive tail", Group.CANNOT_VOUCH_DESTRUCTIVE, Severity.HIGH,
        _word_destructive, denies=("$C -rf /", "\"$(pick)\" -rf ~/x"), passes=("$C --version", "ls -rf /"),
    ),
    Rule(
        "vouch.unread-destructive", "text that can't be read, and looks destructive", Group.CANNOT_VOUCH_DESTRUCTIVE, Severity.HIGH,
        _unreadable_destructive, denies=("if ( rm -rf /x",), passes=("if (",),
    ),
    Rule(
        "vouch.unknown-word", "which program runs is not known", Group.CANNOT_VOUCH, Severity.MEDIUM, _word,
        denies=("$C a", "\"$(which x)\" --flag"), passes=("C=ls; $C -l", "ls $C"),
    ),
    Rule(
        "vouch.suspected-child", "a dangerous command behind an unknown program", Group.CANNOT_VOUCH, Severity.MEDIUM, _suspected,
        denies=("mywrap rm -rf /home/dev/x",), passes=("mytool build",),
    ),
    Rule(
        "vouch.unknown-input", "an interpreter runs input that is not in the text", Group.CANNOT_VOUCH, Severity.MEDIUM, _input,
        denies=("cat script.sh | bash", "./gen | sh"), passes=("bash script.sh", "echo 'ls' | bash", "bash -c 'ls'"),
    ),
    Rule(
        "vouch.unread", "text that can't be read", Group.CANNOT_VOUCH, Severity.MEDIUM, _unreadable,
        denies=("if (",), passes=("if true; then ls; fi",),
    ),
)
