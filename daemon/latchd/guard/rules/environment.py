"""The environment holds secrets: printing all of it, or a variable named like one, is a leak."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command, Operation
from latch_contracts.verdict import Disposition, Route, Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject

_DUMPERS: Final = frozenset(("env", "printenv", "set", "export", "declare"))
_SIEVES: Final = frozenset(("grep", "egrep", "fgrep", "rg"))
_ONE_NAME: Final = re.compile(r"\^(?P<name>[A-Za-z_]\w{1,63})=")
_SIEVE_OPTIONS: Final = frozenset("-E -F -q -m1 -o -w --color=never --color=auto".split())
_SECRETS: Final = re.compile(
    r"TOKEN|SECRET|PASS|KEY|CRED|AUTH|COOKIE|SESSION|PRIVATE|DSN|DATABASE|_URL|_URI", re.IGNORECASE
)


def _only_reader(subject: Subject, command: Command) -> Command | None:
    """The one command that all the output goes to; None when there is none, or more."""
    outlets = [flow for flow in subject.facts.flows if flow.from_command == command.id]
    return subject.facts.command(outlets[0].to_command) if len(outlets) == 1 else None


def _sifted(subject: Subject, command: Command) -> bool:
    """`env | grep ^NAME=`: one variable alone comes through, and its name is no secret's."""
    reader = _only_reader(subject, command)
    if reader is None or reader.program not in _SIEVES or command.program not in _DUMPERS:
        return False
    patterns = [word for word in reader.argv[1:] if word not in _SIEVE_OPTIONS]
    found = _ONE_NAME.match(patterns[0]) if len(patterns) == 1 else None
    return found is not None and not _SECRETS.search(found["name"])


# What a reader makes of a dump without its values: the part before the first `=`, or how many lines.
_FIRST_FIELD: Final = re.compile(r"(?:-d=|-d '='|-d\s?=) -f\s?1(?: -s)?|-f\s?1 (?:-d=|-d\s?=)(?: -s)?")
_PRINTS_FIRST: Final = re.compile(r"(?:/\^?\[?[\w\[\]*+]{1,40}=?/\s?)?\{\s?print\s?\$1;?\s?\}")
_CUTS_VALUE: Final = re.compile(r"s(?P<mark>[/|#,])=\.\*(?:\$)?(?P=mark)(?P=mark)g?")


_PASSERS: Final = _SIEVES | {"sort", "uniq", "head", "tail"}  # they drop lines and change none
_MOST_SIEVES: Final = 4


def _counts(reader: Command) -> bool:
    """Whether grep says how many lines there are, or that there are some, and shows none."""
    asks = {"-c", "-q", "--count", "--quiet", "-qi", "-ic", "-ci", "-iq"}
    return reader.program in _SIEVES and bool(asks & set(reader.argv[1:]))


def _named(subject: Subject, command: Command) -> bool:
    """`env | cut -d= -f1`, `env | grep -c X`: the names of variables, or how many, and none of their values.

    A value of several lines shows those of its lines that hold no `=`, so this is told and not passed over.
    """
    reader = _only_reader(subject, command)
    for _ in range(_MOST_SIEVES):
        if reader is None or reader.program not in _PASSERS or reader.redirects or _counts(reader):
            break
        reader = _only_reader(subject, reader)
    if reader is None or command.program not in _DUMPERS or reader.redirects:
        return False
    words = " ".join(reader.argv[1:])
    match reader.program:
        case "cut":
            return _FIRST_FIELD.fullmatch(words) is not None
        case "awk" | "gawk" | "mawk":
            return (
                len(reader.argv) in (3, 4)
                and "".join(reader.argv[1:-1]) == "-F="
                and _PRINTS_FIRST.fullmatch(reader.argv[-1]) is not None
            )
        case "sed":
            plain = reader.argv[1:-1] in ((), ("-e",), ("-E",), ("-r",))
            return plain and _CUTS_VALUE.fullmatch(reader.argv[-1]) is not None
        case "wc":
            return True
        case "grep" | "egrep" | "fgrep" | "rg":
            return _counts(reader)
        case _:
            return False


def _dump(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.ENVIRONMENT_READ not in command.operations or "names-only" in command.details:
            continue
        if not _sifted(subject, command):
            names = _named(subject, command)
            yield Hit(
                command.id,
                command.program or "environment",
                f"this prints {'the names of ' if names else ''}environment variables, secrets with them",
                "name a variable that is no secret, or test that one is set with `[[ -v NAME ]]`",
                disposition=Disposition.DETECT if names else Disposition.ENFORCEABLE,
            )


_SPEAKERS: Final = frozenset(("echo", "printf", "cat", "print"))
_SECRET: Final = re.compile(
    r"\b(?:echo|printf|print|cat)\b[^;&|\n]{0,256}?\$(?:\{!(?P<through>\w{1,64})\}|\{?(?P<name>[A-Z0-9_]{0,40}"
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|_KEY|CREDENTIAL|DATABASE_URL|DSN|COOKIE)"
    r"[A-Z0-9_]{0,40})(?!\w)(?!:?[+?]))"
)


def _secret_variable(subject: Subject) -> Iterator[Hit]:
    """A variable named like a secret goes to the output. What goes into a pipe is the reader's affair."""
    found = _SECRET.search(subject.text) if "$" in subject.text else None
    if found is None:
        return
    for command in subject.acting():
        piped = any(flow.from_command == command.id for flow in subject.facts.flows)
        saved = any(redirect.access in (Access.WRITE, Access.APPEND) for redirect in command.redirects)
        speaks = command.program in _SPEAKERS and (command.program != "cat" or len(command.argv) == 1)
        if speaks and not piped and not saved:
            name = found["name"] or found["through"]
            yield Hit(
                command.id,
                name,
                f"this prints the value of `{name}`",
                "test that it is set with `[[ -v NAME ]]` instead",
            )
            return


RULES: Final = (
    Rule(
        "env.secret-variable",
        "a variable named like a secret is printed",
        Group.ENVIRONMENT,
        Severity.HIGH,
        _secret_variable,
        denies=('echo "$API_TOKEN"', 'printf %s "$DB_PASSWORD"', "echo ${!v}", 'cat <<< "$AWS_SECRET_KEY"'),
        passes=(
            'echo "$HOME"',
            'echo "$TOKEN" | docker login --password-stdin',
            'test -n "$API_TOKEN"',
            "echo ${API_TOKEN:+set}",
            "echo '$API_TOKENS are fine' > notes",
            'curl -H "Authorization: $API_TOKEN" https://x.example',
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "env.dump",
        "the environment is printed",
        Group.ENVIRONMENT,
        Severity.HIGH,
        _dump,
        denies=(
            "env",
            "printenv",
            "env | sort",
            "export -p",
            "bash -c 'env'",
            "python3 -c 'import os; print(os.environ)'",
            "declare -x",
            "set | grep KEY",
            "env | grep PATH",
            "env | grep ^API_KEY=",
            "env | grep -v ^PATH=",
            "env | cut -d= -f2",
            "env | cut -d= -f1-",
            "env | sed p 's/=.*//'",
            "docker exec web printenv API_TOKEN",
        ),
        passes=(
            "env A=1 make",
            'echo "$HOME"',
            "set -e",
            "export A=1",
            "command -v env",
            "printenv --version",
            "env -i ls",
            "env | grep ^PATH=",
            "docker exec web printenv NODE_ENV",
            "kubectl exec web-0 -- printenv HOSTNAME",
        ),
    ),
)
