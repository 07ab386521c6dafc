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
    deletion,
    egress,
    environment,
    git,
    infrastructure,
    overwriting,
    powershell,
    programs,
    traffic,
    vouch,
)

SELF_PROTECTION: Final[tuple[Rule, ...]] = control.RULES

# Shell first (destruction, network, environment), then the write gates, then readers.
RULES: Final[tuple[Rule, ...]] = (
    *deletion.RULES,
    *overwriting.RULES,
    *code.RULES,
    *git.RULES,
    *infrastructure.RULES,
    *databases.RULES,
    *powershell.RULES,
    *egress.RULES,
    *traffic.RULES,
    *environment.RULES,
    *vouch.RULES,
    *programs.RULES,
    *GATES,
    *credentials.RULES,
)
