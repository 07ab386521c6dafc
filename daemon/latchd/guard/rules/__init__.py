"""Every rule, in the order in which the first refusal is looked for."""

from __future__ import annotations

from typing import Final

from latchd.guard.gates import GATES
from latchd.guard.rule import Rule
from latchd.guard.rules import (
    code,
    control,
    credentials,
    databases,
    destructive,
    egress,
    environment,
    git,
    infrastructure,
    powershell,
    vouch,
)

SELF_PROTECTION: Final[tuple[Rule, ...]] = control.RULES

# Shell first (destruction, network, environment), then the write gates, then readers.
RULES: Final[tuple[Rule, ...]] = (
    *destructive.RULES,
    *code.RULES,
    *git.RULES,
    *infrastructure.RULES,
    *databases.RULES,
    *powershell.RULES,
    *egress.RULES,
    *environment.RULES,
    *vouch.RULES,
    *GATES,
    *credentials.RULES,
)
