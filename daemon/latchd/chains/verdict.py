"""What a completed chain does to a verdict: told always, and a refusal where both steps are exact."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd.chains.matching import Match
from latchd.policy import Profile

GROUP: Final = "chain"
PARTICIPANT: Final = "chains"


def completed(verdict: Verdict, matches: Sequence[Match], profile: Profile) -> Verdict:
    """The verdict with the chains this call completes. What was refused already stays as it is."""
    if verdict.action is Action.DENY or not matches:
        return verdict
    acts = profile is not Profile.OBSERVE
    findings = tuple(_finding(one, enforced=acts and one.enforces) for one in matches)
    refusing = next((one for one in findings if one.disposition is Disposition.ENFORCEABLE), None)
    verdict = msgspec.structs.replace(verdict, findings=(*verdict.findings, *findings))
    if refusing is None:
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
    return Finding(
        rule=chain.id,
        group=GROUP,
        severity=Severity.HIGH,
        reason=f"[{chain.id}]: {chain.title}, and this call is the second step. "
        "Leave it out, or let the person run it.",
        disposition=Disposition.ENFORCEABLE if enforced else Disposition.DETECT,
    )
