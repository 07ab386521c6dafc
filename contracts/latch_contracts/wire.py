"""The messages of the two sockets, as MessagePack inside a frame.

Every message is an array whose first member is its tag, so that the shim can write one and read
one by hand; fields are only ever appended, with defaults. The hook socket takes HookRequest, Allow and
StatusRequest; the event socket takes Watch, Show, Sessions,
ShowSession and StatusRequest and can change nothing.
"""

from __future__ import annotations

from typing import Any, Final, TypeVar

import msgspec

from latch_contracts.errors import BadMessage, WrongVersion
from latch_contracts.records import AllowanceRecord, Record

VERSION: Final = 1


class HookRequest(msgspec.Struct, frozen=True, array_like=True, tag="hook"):
    """One hook call, as the shim saw it. ``payload`` is the hook's stdin, untouched.

    ``event`` is the shim's own argument, "" where the agent puts the name in the payload;
    ``agent_version`` is what the installer saw, "" when it saw none; ``cwd`` is the shim's working
    directory; ``token`` the content of the runtime directory's token file, "" without one.
    ``probe`` asks what the guard would say: judged the same, nothing kept but the record.
    """

    version: int
    connector: str
    event: str
    agent_version: str
    cwd: str
    token: str
    payload: bytes
    probe: bool = False


class HookReply(msgspec.Struct, frozen=True, array_like=True, tag="reply"):
    """What the shim does: these bytes, this exit code. Already in the agent's own dialect."""

    version: int
    exit_code: int
    stdout: bytes
    stderr: bytes


class Allow(msgspec.Struct, frozen=True, array_like=True, tag="allow?"):
    """The person lets the refused call of this code pass once. ``token`` as in HookRequest."""

    version: int
    code: str
    token: str


class Allowed(msgspec.Struct, frozen=True, array_like=True, tag="allowed"):
    """``why`` says in one line what became of the code; without a record it is worth nothing."""

    version: int
    why: str
    record: AllowanceRecord | None = None


class StatusRequest(msgspec.Struct, frozen=True, array_like=True, tag="status?"):
    version: int


class Status(msgspec.Struct, frozen=True, array_like=True, tag="status"):
    """How the daemon is. ``health`` is ``ok`` or ``degraded``, ``notes`` say why."""

    version: int
    latchd: str
    pid: int
    started_ms: int
    health: str
    notes: list[str]
    profile: str
    policy: str
    counters: dict[str, int]
    rules: str = ""  # 16 hex fingerprint of the person's rules, as records name it where no project adds any


class Watch(msgspec.Struct, frozen=True, array_like=True, tag="watch"):
    """Subscribe to records after ``cursor`` (a sequence number; -1 = only new ones).

    With ``follow`` false the stream ends at the newest record. Empty filters take everything;
    ``kinds`` and ``connectors`` hold exact names, ``actions`` verdicts (allow, ask, deny).
    """

    version: int
    cursor: int = -1
    follow: bool = True
    kinds: list[str] = []
    connectors: list[str] = []
    actions: list[str] = []
    limit: int = 0  # with follow false: only the newest so many, 0 = all
    codes: bool = False  # tell the codes that lift refusals: a person reads this


class Show(msgspec.Struct, frozen=True, array_like=True, tag="show?"):
    """Everything known of one call id, over all its sessions."""

    version: int
    call_id: str
    codes: bool = False  # as in Watch


class CallView(msgspec.Struct, frozen=True, array_like=True, tag="call"):
    """One call joined: where its row stands now, and every record that names it, in order."""

    version: int
    call_id: str
    states: list[dict[str, Any]]
    records: list[Record]


class Sessions(msgspec.Struct, frozen=True, array_like=True, tag="sessions?"):
    version: int
    limit: int = 50


class SessionList(msgspec.Struct, frozen=True, array_like=True, tag="sessions"):
    version: int
    sessions: list[dict[str, Any]]


class ShowSession(msgspec.Struct, frozen=True, array_like=True, tag="session?"):
    """One session: its id as the agent gave it, or the first hexadecimal digits of its key."""

    version: int
    session: str
    limit: int = 50  # of its calls, the newest


class SessionView(msgspec.Struct, frozen=True, array_like=True, tag="session"):
    """Where one session stands. ``matches``: 0 it is not known, 1 it is told here, 2 several begin so.

    ``session`` is as in SessionList; ``calls`` and ``chains`` carry ``age_ms``, null where the clocks give
    no believable answer; ``secret_files`` counts files that hold what came from a secret.
    """

    version: int
    matches: int
    session: dict[str, Any] = {}
    calls: list[dict[str, Any]] = []
    chains: list[dict[str, Any]] = []
    secret_files: int = 0


class Streamed(msgspec.Struct, frozen=True, array_like=True, tag="record"):
    version: int
    record: Record


class End(msgspec.Struct, frozen=True, array_like=True, tag="end"):
    """The stream ends here; ``cursor`` is where to go on."""

    version: int
    cursor: int


class Fault(msgspec.Struct, frozen=True, array_like=True, tag="fault"):
    """The request could not be served; ``why`` is one line for a person."""

    version: int
    code: str
    why: str


HookSide = HookRequest | Allow | StatusRequest
EventSide = Watch | Show | Sessions | ShowSession | StatusRequest
Answer = HookReply | Allowed | Status | CallView | SessionList | SessionView | Streamed | End | Fault

_encoder: Final = msgspec.msgpack.Encoder()
_hook_side: Final = msgspec.msgpack.Decoder(HookSide)
_event_side: Final = msgspec.msgpack.Decoder(EventSide)
_answers: Final = msgspec.msgpack.Decoder(Answer)


def encode(message: HookSide | EventSide | Answer) -> bytes:
    return _encoder.encode(message)


def decode_hook_side(message: bytes) -> HookSide:
    return _versioned(_decode(_hook_side, message))


def decode_event_side(message: bytes) -> EventSide:
    return _versioned(_decode(_event_side, message))


def decode_answer(message: bytes) -> Answer:
    return _versioned(_decode(_answers, message))


M = TypeVar("M", bound=HookSide | EventSide | Answer)


def _decode(decoder: msgspec.msgpack.Decoder[M], message: bytes) -> M:
    try:
        return decoder.decode(message)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise BadMessage(f"not a message of this protocol: {error}") from error


def _versioned(message: M) -> M:
    if message.version != VERSION:
        raise WrongVersion(f"protocol version {message.version}, this side speaks {VERSION}")
    return message
