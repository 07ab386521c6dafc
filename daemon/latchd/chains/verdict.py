"""What a completed chain does to a verdict: told always, and a refusal where both steps are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd.chains.catalogue import Step
from latchd.chains.matching import Match
from latchd.policy import Profile

GROUP: Final = "chain"
PARTICIPANT: Final = "chains"
_SHOWN: Final = 160  # characters of a path in a reason
_ORIGINS: Final = {
    Step.SECRET_READ: "a credential",
    Step.SECRET_MANAGER_READ: "a secrets manager",
}


def completed(
    verdict: Verdict, matches: Sequence[Match], profile: Profile, lifted: frozenset[str] = frozenset()
) -> Verdict:
    """The verdict with the chains this call completes. What was refused already stays so, by its own rule.

    ``lifted`` are chains that the person lets this one call complete.
    """
    if not matches:
        return verdict
    acts = profile is not Profile.OBSERVE
    findings = tuple(
        _finding(one, enforced=acts and one.enforces and one.chain.id not in lifted) for one in matches
    )
    refusing = next((one for one in findings if one.disposition is Disposition.ENFORCEABLE), None)
    verdict = msgspec.structs.replace(verdict, findings=(*verdict.findings, *findings))
    if refusing is None or verdict.action is Action.DENY:
        return verdict
    return msgspec.structs.replace(
        verdict,
        action=Action.DENY,
        rule=refusing.rule,
        reason=refusing.reason,
        participant=PARTICIPANT,
    )


def _finding(found: Match, *, enforced: bool) -> Finding:
    chain = found.chain
    what = f"{chain.title}, and this call is the second step"
    target = ""
    if found.flow is not None:
        target = found.flow.path
        origin = _ORIGINS[chain.first]
        what = f"`{target[:_SHOWN]}` holds what an earlier call took from {origin}, and this sends it out"
    return Finding(
        rule=chain.id,
        group=GROUP,
        severity=Severity.HIGH,
        reason=f"[{chain.id}]: {what}. Leave it out, or let the person run it.",
        target=target,
        disposition=Disposition.ENFORCEABLE if enforced else Disposition.DETECT,
    )
