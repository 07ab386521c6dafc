"""The environment holds secrets: printing all of it, or a variable named like one, is a leak."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Operation
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject


def _dump(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.ENVIRONMENT_READ in command.operations and "names-only" not in command.details:
            yield Hit(
                command.id,
                command.program or "environment",
                "this prints environment variables, secrets with them",
                "name a variable that is no secret, or test that one is set with `[[ -v NAME ]]`",
            )


RULES: Final = (
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
        ),
        passes=(
            "env A=1 make",
            'echo "$HOME"',
            "set -e",
            "export A=1",
            "command -v env",
            "printenv --version",
            "env -i ls",
        ),
    ),
)
