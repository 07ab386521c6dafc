"""How records of a live run look, and short questions about where its calls stand."""

from __future__ import annotations

from typing import Any, Final

from live.stage import Stage

REFUSED: Final = (
    "PreToolUse:{tool} hook error: "  # how Claude Code opens what it tells the model of a refusal
)

Record = dict[str, Any]


def verdict(call: str, head: str, **more: Any) -> Record:
    """An allowed Bash call that opened a row, with ``more`` in place of what differs."""
    return {
        "type": "verdict",
        "connector": "claudecode",
        "event": "PreToolUse",
        "call": call,
        "action": "allow",
        "tool": "Bash",
        "surface": "shell",
        "head": head,
        "status": "complete",
        "state": "pending",
    } | more


def refusal(call: str, head: str, found: Record, **more: Any) -> Record:
    """A refused one by the guard; the wording, which the guard's own tests hold, is taken from ``found``."""
    return verdict(
        call,
        head,
        participant="guard",
        action="deny",
        state="denied",
        reason=found["reason"],
        findings=found["findings"],
        **more,
    )


def denial(call: str, rule: str) -> Record:
    return {
        "type": "denial",
        "connector": "claudecode",
        "event": "PreToolUse",
        "call": call,
        "rule": rule,
        "participant": "guard",
    }


def outcome(call: str, **more: Any) -> Record:
    """The result of a Bash call whose row was pending."""
    return {
        "type": "outcome",
        "connector": "claudecode",
        "event": "PostToolUse",
        "call": call,
        "tool": "Bash",
        "before": "pending",
    } | more


def boundary(event: str, scope: str, **more: Any) -> Record:
    return {"type": "boundary", "connector": "claudecode", "event": event, "scope": scope} | more


def unreachable(event: str, note: str = "no-daemon") -> Record:
    return {"type": "gap", "what": "unreachable", "count": 1, "detail": f"claudecode {event}: {note}"}


def steps(stage: Stage) -> list[str]:
    """The ids of the calls that became steps, in order, over all sessions there are."""
    return [record["call"] for record in stage.records(kind="outcome") if "step" in record]


def standing(stage: Stage, call: str) -> list[tuple[str, bool]]:
    """Where the rows of a call stand: state, and whether it is a step."""
    return [(row["state"], row["step"] is not None) for row in stage.show(call)["states"]]


def ended(stage: Stage) -> list[bool]:
    """Of each session there is: whether its end was seen."""
    return [session["closed_seq"] > 0 for session in stage.latchctl("sessions", "--json")]
