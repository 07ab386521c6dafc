"""The person's way out, as values: which refusal may be lifted, for what, for how long, by which code.

A code is for one refused call of one session, and lets the same thing pass once. It is never stored
and never in what a model reads: whoever may see it is told it anew from the key and the refusal.

INVARIANT (an allowance lifts one rule): the call is judged again in full with that rule's findings
told instead of refusing; the floor and self-protection are never lifted, and another rule's refusal stands.
"""

from __future__ import annotations

import enum
import hmac
from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from latch_contracts.canonical import digest
from latch_contracts.contract import Contract
from latch_contracts.events import HookEvent
from latch_contracts.verdict import Action, Disposition, Verdict
from latchd.guard.groups import NEVER_LIFTED
from latchd.windows import Instant, is_expired

REFUSAL_MS: Final = 15 * 60_000  # how long a refused call can be allowed
GRANT_MS: Final = 10 * 60_000  # how long an allowed one may be tried
# Refusals whose codes work. A person sees some a minute; an agent that makes more than this in a
# quarter of an hour takes older codes away, its own first try again gives a new one.
KEPT: Final = 1024
WRONG_PER_MINUTE: Final = 10

CODE_LENGTH: Final = 8  # 40 bits: a guess among 1024 live codes succeeds once in a thousand million
_LETTERS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O, U
_MISREAD: Final = str.maketrans("OIL", "011", " -")

# What models word anew between two tries of one command, and what changes nothing of what it does.
_REWORDED: Final = frozenset(("description", "timeout", "timeout_ms"))


class Refusal(msgspec.Struct, frozen=True):
    """One refused call that may be allowed. ``seq`` is that of its verdict's record; digests are keyed.

    ``granted`` is when the person allowed it, ``grant_seq`` the record of that, ``used_seq`` the
    record of the call that used it up.
    """

    seq: int
    session: bytes
    deed: bytes
    rule: str
    policy: bytes
    refused: Instant
    granted: Instant | None = None
    grant_seq: int = 0
    used_seq: int = 0


class Answer(enum.StrEnum):
    """What a code is worth, in words for the person."""

    GRANTED = "allowed"
    UNKNOWN = "no refused call has this code; `latchctl tail` shows codes for 15 minutes"
    OVER = "this code is over: its call was refused more than 15 minutes ago"
    USED = "this code was used already"
    CHANGED = "the policy has changed since this call was refused; let the agent try again for a new code"
    TOO_MANY = "too many wrong codes; wait a minute"


def liftable(verdict: Verdict) -> bool:
    """Whether the person may lift this refusal: one that a rule gave, and none that guards the guard."""
    if verdict.action is not Action.DENY:
        return False
    return any(
        finding.rule == verdict.rule
        and finding.disposition is Disposition.ENFORCEABLE
        and finding.group not in NEVER_LIFTED
        for finding in verdict.findings
    )


def deed(event: HookEvent, contract: Contract) -> bytes:
    """SHA-256 over what a call does and where: its tool and arguments, without what is only wording."""
    call = event.the_call
    tool = contract.tool(call.tool)
    reworded = _REWORDED & tool.benign if tool is not None and tool.command else frozenset[str]()
    arguments = {key: value for key, value in call.arguments.items() if key not in reworded}
    return digest([call.tool, arguments, event.cwd])


def code_of(mac: bytes) -> str:
    """Eight characters of a keyed digest, as a person reads and types them: ``K7QM-2XRD``."""
    number = int.from_bytes(mac[:5], "big")
    letters = "".join(_LETTERS[number >> shift & 31] for shift in range(35, -1, -5))
    return f"{letters[:4]}-{letters[4:]}"


def typed(text: str) -> str | None:
    """The code that somebody typed, as :func:`code_of` writes it; None for what can't be one."""
    letters = text.upper().translate(_MISREAD) if text.isascii() and len(text) <= 2 * CODE_LENGTH else ""
    if len(letters) != CODE_LENGTH or not set(letters) <= set(_LETTERS):
        return None
    return f"{letters[:4]}-{letters[4:]}"


def found(refusals: Sequence[Refusal], code: str, code_for: Callable[[Refusal], str]) -> Refusal | None:
    """The refusal of this code, every one looked at, so that the time taken tells nothing."""
    match: Refusal | None = None
    for refusal in refusals:
        if hmac.compare_digest(code_for(refusal), code) and match is None:
            match = refusal
    return match


def answer(refusal: Refusal | None, policy: bytes, now: Instant) -> Answer:
    """What the code of this refusal is worth under the policy in force."""
    if refusal is None:
        return Answer.UNKNOWN
    if refusal.granted is not None:
        return Answer.USED
    if is_expired(refusal.refused, now, REFUSAL_MS):
        return Answer.OVER
    return Answer.GRANTED if refusal.policy == policy else Answer.CHANGED


def is_open(refusal: Refusal, now: Instant) -> bool:
    """Whether its code would be taken now."""
    return refusal.granted is None and not is_expired(refusal.refused, now, REFUSAL_MS)


def holds(refusal: Refusal, policy: bytes, now: Instant, *, asks: bool) -> bool:
    """Whether what the person allowed holds for a call judged now under this policy.

    ``asks``: the agent's own question to the person about a call that was proposed before. It is the
    same call, so what that one has used up holds for it too; nothing runs by a question alone.
    """
    if refusal.granted is None or (refusal.used_seq and not asks):
        return False
    return refusal.policy == policy and not is_expired(refusal.granted, now, GRANT_MS)


class Guesses:
    """How many wrong codes came in this minute. ``at_us`` is monotonic time in microseconds."""

    def __init__(self) -> None:
        self._wrong: list[int] = []

    def is_over(self, at_us: int) -> bool:
        self._wrong = [one for one in self._wrong if 0 <= at_us - one < 60_000_000]
        return len(self._wrong) >= WRONG_PER_MINUTE

    def wrong(self, at_us: int) -> None:
        self._wrong.append(at_us)
