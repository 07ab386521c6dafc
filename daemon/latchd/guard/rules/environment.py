"""The environment holds secrets: printing all of it, or a variable named like one, is a leak."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, Command, Operation
from latch_contracts.verdict import Route, Severity
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


def _sifted(subject: Subject, command: Command) -> bool:
    """`env | grep ^NAME=`: one variable alone comes through, and its name is no secret's."""
    outlets = [flow for flow in subject.facts.flows if flow.from_command == command.id]
    reader = subject.facts.command(outlets[0].to_command) if len(outlets) == 1 else None
    if reader is None or reader.program not in _SIEVES or command.program not in _DUMPERS:
        return False
    patterns = [word for word in reader.argv[1:] if word not in _SIEVE_OPTIONS]
    found = _ONE_NAME.match(patterns[0]) if len(patterns) == 1 else None
    return found is not None and not _SECRETS.search(found["name"])


def _dump(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.ENVIRONMENT_READ not in command.operations or "names-only" in command.details:
            continue
        if not _sifted(subject, command):
            yield Hit(
                command.id,
                command.program or "environment",
                "this prints environment variables, secrets with them",
                "name a variable that is no secret, or test that one is set with `[[ -v NAME ]]`",
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
        ),
    ),
)
