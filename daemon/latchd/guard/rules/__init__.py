"""Every coded rule, in the order in which the first refusal is looked for; packs stand between two."""

from __future__ import annotations

from typing import Final

from latchd.guard.gates import GATES
from latchd.guard.rule import Rule
from latchd.guard.rules import (
    attack,
    code,
    control,
    credentials,
    databases,
    deletion,
    egress,
    environment,
    exhaustion,
    git,
    infrastructure,
    loading,
    notable,
    overwriting,
    powershell,
    programs,
    statements,
    tools,
    traffic,
    unusual,
    vouch,
)
from latchd.guard.rules.needed import with_needs

SELF_PROTECTION: Final[tuple[Rule, ...]] = with_needs(control.RULES)

# Shell first (destruction, network, environment), then the write gates, then readers. What packs say is
# destroyed elsewhere comes before what merely speaks to the network: the graver reason is the one told.
BEFORE_PACKS: Final[tuple[Rule, ...]] = with_needs(
    (
        *deletion.RULES,
        *overwriting.RULES,
        *code.RULES,
        *git.RULES,
        *infrastructure.RULES,
        *databases.RULES,
        *tools.RULES,
    )
)
AFTER_PACKS: Final[tuple[Rule, ...]] = with_needs(
    (
        *powershell.RULES,
        *egress.RULES,
        *traffic.RULES,
        *environment.RULES,
        *vouch.RULES,
        *programs.RULES,
        *loading.RULES,
        *GATES,
        *credentials.RULES,
        *unusual.RULES,
        *statements.RULES,
        *exhaustion.RULES,
        *attack.RULES,
        *notable.RULES,
    )
)
RULES: Final = (*BEFORE_PACKS, *AFTER_PACKS)
