"""One hook call: stdin to the daemon, the daemon's answer to stdout, stderr and the exit code.

The shim knows nothing of what it carries. It is one file, because each further one would be opened at
every call of every tool. It imports sys, posix and _socket and, when something fails, the modules
beside it; anything else would cost more than the whole call. Its copies of places, wire and frames
are held equal to the originals by tests.

INVARIANT (doubt is closed): exit 0 without output, which an agent reads as leave to go on, comes
only from the daemon's own answer, from an event that is certainly no proposal, or from a user's
``--fail-open``.
"""

import _socket
import posix
import sys

VERSION = 1
MAX_FRAME = 16 * 1024 * 1024

DEADLINE = 2.0  # seconds, from the start to the answer: stdin, connection, queue and decision together
DEADLINE_STARTING = 5.0  # the same when the daemon may first have to start
DENIED = 2

_CHUNK = 1 << 16
_SOCKET_MODE = 0o140000
_TYPE_MASK = 0o170000
_USAGE = (
    b"usage: hook.py CONNECTOR [EVENT] [--fail-open] [--autostart]"
    b" (started by an agent, with a hook's JSON on stdin)\n"
)


class Failure(Exception):
    """The daemon gave no answer that can be used. ``why`` is a word of fallbacks.WHY."""

    def __init__(self, why: str, detail: str = "") -> None:
        super().__init__(why, detail)
        self.why = why
        self.detail = detail


class Line:
    """The hook line's own words. ``event`` is "" where the agent puts the name in the payload."""

    def __init__(self, connector: str, event: str, fail_open: bool, autostart: bool) -> None:
        self.connector = connector
        self.event = event
        self.fail_open = fail_open
        self.autostart = autostart


class Deadline:
    """One deadline for everything; the clock is the kernel's tick count, because `time` is not imported."""

    def __init__(self, seconds: float) -> None:
        self._start = posix.times().elapsed
        self._seconds = seconds
        self.why = "stdin"  # what is being waited for, as a word of fallbacks.WHY

    def left(self) -> float:
        """Seconds, more than 0. Raises Failure when none are left."""
        left = self._seconds - (posix.times().elapsed - self._start)
        if left <= 0:
            raise Failure(self.why)
        return left

    def extend(self, seconds: float) -> None:
        self._seconds = max(self._seconds, seconds)


class Naps:
    """Short sleeps, each longer than the last up to 10 ms: waiting for a byte that nobody sends."""

    def __init__(self) -> None:
        self._seconds = 0.0005

    def nap(self, left: float) -> None:
        near, far = _socket.socketpair()
        near.settimeout(min(self._seconds, left))
        self._seconds = min(self._seconds * 1.5, 0.01)
        try:
            near.recv(1)
        except TimeoutError:
            return
        finally:
            near.close()
            far.close()


class Extent:
    """Finds the end of one JSON object or array in chunks, each byte looked at once.

    Hosts may keep the pipe open after the payload, so its end has to be seen in the text. Whether
    it is JSON at all is the daemon's to judge: what never closes is ended by EOF or the deadline.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._opened = False
        self._in_string = False
        self._escaped = False  # the last chunk ended on a backslash that takes the next byte

    def feed(self, chunk: bytes) -> bool:
        """True when the value is complete."""
        if self._escaped:
            chunk = chunk[1:]
        text = chunk.replace(b"\\\\", b"")
        self._escaped = text.endswith(b"\\")
        pieces = text.replace(b'\\"', b"").split(b'"')
        outside = b"".join(pieces[1 if self._in_string else 0 :: 2])
        if len(pieces) % 2 == 0:
            self._in_string = not self._in_string
        opened = outside.count(b"{") + outside.count(b"[")
        self._opened = self._opened or opened > 0
        self._depth += opened - outside.count(b"}") - outside.count(b"]")
        return self._opened and self._depth <= 0 and not self._in_string


def main(argv: list[str], environ: dict[bytes, bytes]) -> int:
    """Carry one hook call and say its answer; gives the exit code, 0 or 2."""
    line = parse(argv)
    if line is None:
        say(2, _USAGE)
        return DENIED
    if posix.isatty(0):
        say(
            2,
            b"latchd: stdin is a terminal; this command is started by an agent with a hook's JSON on stdin\n",
        )
        return DENIED
    code, stdout, stderr = answer(line, environ)
    if not say(1, stdout):
        code = DENIED  # a verdict that could not be said must not be taken for an allow
    say(2, stderr)
    return code


def parse(argv: list[str]) -> Line | None:
    """The words of the hook line, or None when they are not one."""
    flags = [word for word in argv[1:] if word.startswith("--")]
    words = [word for word in argv[1:] if not word.startswith("--")]
    if not 1 <= len(words) <= 2 or not words[0] or not {"--fail-open", "--autostart"}.issuperset(flags):
        return None
    return Line(words[0], words[1] if len(words) == 2 else "", "--fail-open" in flags, "--autostart" in flags)


def answer(line: Line, environ: dict[bytes, bytes]) -> tuple[int, bytes, bytes]:
    """Exit code, stdout and stderr: the daemon's, or what stands in for it when it can't be asked."""
    chunks: list[bytes] = []
    try:
        deadline = Deadline(DEADLINE)
        naps = Naps()
        runtime = runtime_dir(environ, posix.getuid())
        head, tail = envelope(line.connector, line.event, working_directory(), token(runtime))
        room = MAX_FRAME - len(head) - len(tail) - 5  # 5: the longest head of a binary member
        read_payload(chunks, room, deadline, naps)
        deadline.why = "timeout"
        payload = b"".join(chunks)
        message = head + binary_head(len(payload)) + payload + tail
        sock = connected(runtime, deadline, naps, environ if line.autostart else None)
        return decode_reply(exchange(sock, len(message).to_bytes(4, "big") + message, deadline))
    except Failure as failure:
        why, detail = failure.why, failure.detail
    except Exception as error:
        why, detail = "broken", type(error).__name__
    from latch_client import fallbacks

    return fallbacks.stand_in(line, b"".join(chunks), environ, why, detail)


# Places, as latch_contracts.places resolves them.


def runtime_dir(environ: dict[bytes, bytes], uid: int) -> bytes:
    if own := environ.get(b"LATCHD_RUNTIME_DIR", b""):
        return own
    base = environ.get(b"XDG_RUNTIME_DIR", b"")
    if base.startswith(b"/"):
        return base + b"/latchd"
    base = b"/run/user/%d" % uid
    if private_dir(base, uid):
        return base + b"/latchd"
    return state_dir(environ) + b"/run"


def state_dir(environ: dict[bytes, bytes]) -> bytes:
    if own := environ.get(b"LATCHD_STATE_DIR", b""):
        return own
    base = environ.get(b"XDG_STATE_HOME", b"")
    if base.startswith(b"/"):
        return base + b"/latchd"
    home = environ.get(b"HOME", b"")
    if not home.startswith(b"/"):
        raise Failure("no-place")
    return home + b"/.local/state/latchd"


def private_dir(path: bytes, uid: int) -> bool:
    """A real directory of ours that nobody else can enter."""
    try:
        status = posix.lstat(path)
    except OSError:
        return False
    return status.st_mode & _TYPE_MASK == 0o040000 and status.st_uid == uid and not status.st_mode & 0o077


def working_directory() -> bytes:
    """In UTF-8; empty when it is gone or has another encoding, for a wrong one is worse than none."""
    try:
        path = posix.getcwdb()
        path.decode()
    except (OSError, UnicodeDecodeError):
        return b""
    return path


def token(runtime: bytes) -> bytes:
    try:
        file = posix.open(runtime + b"/hook.token", posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NOFOLLOW)
    except OSError:
        return b""
    try:
        return posix.read(file, 4096).strip()
    finally:
        posix.close(file)


# The wire, as latch_contracts.wire writes and reads it.


def envelope(connector: str, event: str, cwd: bytes, secret: bytes) -> tuple[bytes, bytes]:
    """What comes before and after the payload member of a HookRequest."""
    words = (
        connector.encode("utf-8", "surrogateescape"),
        event.encode("utf-8", "surrogateescape"),
        b"",
        cwd,
        secret,
    )
    return b"\x99\xa4hook" + bytes((VERSION,)) + b"".join(map(text, words)), b"\xc2"


def text(value: bytes) -> bytes:
    size = len(value)
    if size < 32:
        return bytes((0xA0 | size,)) + value
    if size < 1 << 8:
        return bytes((0xD9, size)) + value
    if size < 1 << 16:
        return b"\xda" + size.to_bytes(2, "big") + value
    return b"\xdb" + size.to_bytes(4, "big") + value


def binary_head(size: int) -> bytes:
    if size < 1 << 8:
        return bytes((0xC4, size))
    if size < 1 << 16:
        return b"\xc5" + size.to_bytes(2, "big")
    return b"\xc6" + size.to_bytes(4, "big")


def decode_reply(message: bytes) -> tuple[int, bytes, bytes]:
    """Exit code, stdout, stderr of a HookReply; later members are skipped. Raises Failure on all else."""
    members = message[0] - 0x90 if message else 0
    if 4 <= members <= 15 and message[1:7] == b"\xa5fault":
        why, _ = member(message, member(message, 8)[1])
        raise Failure("fault", why.decode("utf-8", "replace"))
    if not 5 <= members <= 15 or message[1:7] != b"\xa5reply":
        raise Failure("bad-reply", "it is no answer to a hook")
    if len(message) < 9 or message[7] != VERSION:
        raise Failure("bad-reply", "it speaks another protocol version")
    code = message[8]
    stdout, at = member(message, 9)
    stderr, at = member(message, at)
    if members == 5 and at != len(message):
        raise Failure("bad-reply", "it has bytes after its end")
    if code not in (0, DENIED):
        raise Failure("bad-reply", f"exit code {code} means nothing to the agent")
    return code, stdout, stderr


def member(message: bytes, at: int) -> tuple[bytes, int]:
    """The string or binary member that starts at ``at``, and where the next one does."""
    kind = message[at] if at < len(message) else 0
    at += 1
    if 0xA0 <= kind < 0xC0:
        size = kind - 0xA0
    elif width := {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}.get(kind, 0):
        size = int.from_bytes(message[at : at + width], "big")
        at += width
    else:
        raise Failure("bad-reply", "a member has the wrong type")
    if at + size > len(message):
        raise Failure("bad-reply", "it is cut short")
    return message[at : at + size], at + size


# stdin, socket, stdout.


def read_payload(chunks: list[bytes], room: int, deadline: Deadline, naps: Naps) -> None:
    """Collect stdin up to the end of one JSON value, or EOF. Raises Failure when too long or too slow."""
    stdin = _socket.socket(fileno=0) if posix.fstat(0).st_mode & _TYPE_MASK == _SOCKET_MODE else None
    blocking = posix.get_blocking(0)
    posix.set_blocking(0, False)
    extent = Extent()
    size = 0
    try:
        while True:
            left = deadline.left()
            try:
                if stdin is None:
                    chunk = posix.read(0, _CHUNK)
                else:
                    stdin.settimeout(left)
                    chunk = stdin.recv(_CHUNK)
            except BlockingIOError:
                naps.nap(left)
                continue
            except TimeoutError:
                continue  # the deadline says how it ends
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if extent.feed(chunk) or size > room:
                break
    finally:
        if stdin is not None:
            stdin.detach()
        posix.set_blocking(0, blocking)  # others may hold a handle of this very stream
    if size > room:
        raise Failure("too-large", f"over {room} bytes")


def connected(
    runtime: bytes, deadline: Deadline, naps: Naps, start_with: dict[bytes, bytes] | None
) -> _socket.socket:
    """A connection to the hook socket. ``start_with`` is an environment to start a missing daemon with."""
    path = runtime + b"/hook.sock"
    while True:
        left = deadline.left()
        sock = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        sock.settimeout(left)
        try:
            sock.connect(path)
        except OSError as error:  # also a path that is too long for the kernel, which has no number
            sock.close()
            missing = isinstance(error, (FileNotFoundError, ConnectionRefusedError))
            busy = isinstance(error, (BlockingIOError, TimeoutError))  # its queue of connections is full
            if not busy and (not missing or start_with is None):
                raise Failure("no-daemon", "" if missing else f"{error.strerror or error}") from None
            if missing and start_with:
                from latch_client import autostart

                autostart.spawn(start_with)
                deadline.extend(DEADLINE_STARTING)
                start_with = {}  # once
            naps.nap(left)
        else:
            return sock


def exchange(sock: _socket.socket, frame: bytes, deadline: Deadline) -> bytes:
    """Send one frame and read one. Raises Failure when the peer is not ours, ends early, or is late."""
    pid, uid = peer(sock)
    if uid != posix.getuid():
        raise Failure("not-ours", f"it belongs to user {uid}")
    buffer = b""
    size = 4
    try:
        sock.settimeout(deadline.left())
        sock.sendall(frame)
        while len(buffer) < size:
            try:
                sock.settimeout(deadline.left())
                chunk = sock.recv(_CHUNK)
            except (TimeoutError, Failure):
                if not held_by_systemd(pid):
                    raise Failure("timeout") from None
                deadline.extend(DEADLINE_STARTING)  # the daemon behind the socket is still starting
                deadline.left()
                continue
            if not chunk:
                raise Failure("bad-reply", "the connection ended before the answer")
            buffer += chunk
            if size == 4 and len(buffer) >= 4:
                size += int.from_bytes(buffer[:4], "big")
                if size > MAX_FRAME + 4:
                    raise Failure("bad-reply", "it is too long")
    except TimeoutError:
        raise Failure("timeout") from None
    except OSError as error:
        raise Failure("bad-reply", f"{error.strerror or error}") from None
    finally:
        sock.close()
    if len(buffer) > size:
        raise Failure("bad-reply", "it has bytes after its end")
    return buffer[4:]


def peer(sock: _socket.socket) -> tuple[int, int]:
    """Process and user of who listens on the other side."""
    credentials = sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)
    return int.from_bytes(credentials[:4], sys.byteorder), int.from_bytes(credentials[4:8], sys.byteorder)


def held_by_systemd(pid: int) -> bool:
    try:
        file = posix.open(f"/proc/{pid}/comm", posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return False
    try:
        return posix.read(file, 16) == b"systemd\n"
    finally:
        posix.close(file)


def say(file: int, output: bytes) -> bool:
    """Write it all; False when the reader is gone or does not read within the deadline."""
    naps = Naps()
    deadline = Deadline(DEADLINE)
    while output:
        try:
            output = output[posix.write(file, output) :]
        except BlockingIOError:
            try:
                naps.nap(deadline.left())
            except Failure:
                return False
        except OSError:
            return False
    return True
