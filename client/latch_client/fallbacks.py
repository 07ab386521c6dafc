"""What stands in for the daemon's answer when there is none: data per connector, and the walk over it.

Proposals are refused in the agent's own dialect, everything else is silent; which of the two a
payload is gets decided from the event names that stand in it, and doubt is a proposal. Loaded only
when something failed; imports nothing that the shim has not.
"""

import posix

from latch_client import shim

_DOCTOR = "look at `latchctl doctor`"
_RESTART = "restart it with `latchctl down` and `latchctl up`"

WHY = {
    "no-daemon": "latchd is not running, so nothing can judge this call; start it with `latchctl up`",
    "timeout": f"latchd did not answer in time; {_RESTART}",
    "not-ours": f"the socket of latchd is another user's; {_DOCTOR}",
    "bad-reply": f"latchd gave no answer that can be used; {_RESTART}",
    "fault": f"latchd could not take the request; {_DOCTOR}",
    "stdin": f"the agent did not send the hook's JSON in time; {_DOCTOR}",
    "too-large": "the hook's JSON is too large to be judged; act on smaller pieces",
    "no-place": f"no XDG_RUNTIME_DIR, XDG_STATE_HOME or HOME says where latchd is; {_DOCTOR}",
    "broken": f"the hook of latchd failed; {_DOCTOR}",
}

MAX_SPOOL = 1 << 20  # bytes; a daemon that is never started again must not fill the disk
MAX_DETAIL = 200

_CLAUDE_PROPOSAL = (
    '{"hookSpecificOutput":{"hookEventName":"%EVENT%","permissionDecision":"deny",'
    '"permissionDecisionReason":"%REASON%"}}'
)
# Exit 2 does not refuse a PermissionRequest, the decision does.
_CLAUDE_PERMISSION = (
    '{"hookSpecificOutput":{"hookEventName":"%EVENT%","decision":{"behavior":"deny","message":"%REASON%"}}}'
)


class Fallback:
    """One connector: its proposals (event to stdout, exit code, and whether stderr repeats the reason),
    its results, which may quote a call's input, and its other events."""

    def __init__(
        self,
        proposals: dict[str, tuple[str, int, bool]],
        results: tuple[str, ...],
        others: tuple[str, ...],
    ) -> None:
        self.proposals = proposals
        self.results = results
        self.others = others


FALLBACKS = {
    "claudecode": Fallback(
        proposals={  # the first one is taken for a proposal whose name can't be read
            "PreToolUse": (_CLAUDE_PROPOSAL, shim.DENIED, True),
            "PreSkillShellCommand": (_CLAUDE_PROPOSAL, shim.DENIED, True),
            "PermissionRequest": (_CLAUDE_PERMISSION, 0, False),
        },
        results=("PostToolUse", "PostToolUseFailure", "PermissionDenied", "PostToolBatch"),
        others=(
            "UserPromptSubmit",
            "Stop",
            "StopFailure",
            "SessionStart",
            "SessionEnd",
            "SubagentStop",
            "ConfigChange",
            "SubagentStart",
            "CwdChanged",
            "FileChanged",
            "DirectoryAdded",
            "InstructionsLoaded",
            "UserPromptExpansion",
            "MessageDisplay",
            "Notification",
            "PreCompact",
            "PostCompact",
            "PreModelSwitch",
            "PostModelSwitch",
            "TaskCreated",
            "TaskCompleted",
            "TeammateIdle",
            "Elicitation",
            "ElicitationResult",
            "Setup",
            "WorktreeCreate",
            "WorktreeRemove",
        ),
    ),
}


def stand_in(
    line: shim.Line, payload: bytes, environ: dict[bytes, bytes], why: str, detail: str
) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr for a call that the daemon did not answer; leaves a line in the spool."""
    event = certain_event(line.connector, payload, line.event)
    note = f"{why}: {printable(detail)}" if detail else why
    if line.fail_open:
        note += " (let through, --fail-open)"
    leave_note(environ, line.connector, event, note, len(payload))
    if line.fail_open:
        return 0, b"", b""
    fallback = FALLBACKS.get(line.connector)
    reason = WHY[why] + (f" ({printable(detail)})" if detail else "")
    if fallback is None:
        return shim.DENIED, b"", f"{reason}\n".encode()
    if event and event not in fallback.proposals:
        return 0, b"", b""
    event = event or next(iter(fallback.proposals))
    output, code, repeated = fallback.proposals[event]
    stdout = output.replace("%EVENT%", event).replace("%REASON%", reason)
    return code, stdout.encode(), f"{reason}\n".encode() if repeated else b""


def certain_event(connector: str, payload: bytes, hint: str) -> str:
    """The event this certainly is, or "": then it has to be taken for a proposal.

    Never parses, for the payload may be cut short: the names that stand in it, wherever they do,
    and the hook line's own must all say the same.
    """
    fallback = FALLBACKS.get(connector)
    if fallback is None:
        return ""
    names = {hint} if hint else set[str]()
    for piece in payload.split(b'"hook_event_name"')[1:]:
        after = piece.lstrip(b" \t\r\n")
        value = after[1:].lstrip(b" \t\r\n")
        if not after.startswith(b":") or not value.startswith(b'"'):
            return ""  # a name is there that can't be read
        names.add(value[1:].partition(b'"')[0][:64].decode("ascii", "replace"))
    if len(names) != 1:
        return ""
    name = names.pop()
    if name in fallback.proposals or name in fallback.results:
        return name
    if name not in fallback.others:
        return ""
    if not hint and b'"tool_input"' in payload:
        return ""  # it says Stop and proposes a call: the name may be one inside the call's arguments
    return name


def leave_note(environ: dict[bytes, bytes], connector: str, event: str, note: str, size: int) -> None:
    """One line in the spool for the daemon to read later: what failed, never what was in it."""
    line = (
        f'{{"v":1,"connector":"{printable(connector)}","event":"{event}","why":"{note}",'
        f'"pid":{posix.getpid()},"size":{size}}}\n'
    )
    try:
        _append(shim.state_dir(environ), line.encode("ascii"))
    except (OSError, shim.Failure):
        return  # the agent is told of the refusal; there is no better place left to tell more


def _append(directory: bytes, line: bytes) -> None:
    path = directory + b"/spool.jsonl"
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
    try:
        file = posix.open(path, flags, 0o600)
    except FileNotFoundError:
        _make_directory(directory)
        file = posix.open(path, flags, 0o600)
    try:
        if posix.fstat(file).st_size <= MAX_SPOOL:
            posix.write(file, line)
    finally:
        posix.close(file)


def printable(value: str) -> str:
    """As it may stand in JSON and in one line: ASCII, no quote, no backslash, not long."""
    return "".join(c if " " <= c <= "~" and c not in '"\\' else "?" for c in value[:MAX_DETAIL])


def _make_directory(path: bytes) -> None:
    try:
        posix.mkdir(path, 0o700)
    except FileExistsError:
        return
    except FileNotFoundError:
        _make_directory(path.rpartition(b"/")[0])
        posix.mkdir(path, 0o700)
