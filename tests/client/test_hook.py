"""The hook as agents run it: a real process, real sockets, and answers that can only be 0 or 2."""

from __future__ import annotations

import contextlib
import json
import os
import pty
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from pathlib import Path
from typing import Any, Final

import pytest

import latch_client
from latch_client import autostart, shim
from latch_contracts import wire
from latch_contracts.frames import FrameBuffer, pack

HOOK: Final = str(Path(latch_client.__file__).with_name("hook.py"))
LINE: Final = [sys.executable, "-IS", HOOK, "claudecode"]
PRE: Final = b'{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"}}'
POST: Final = b'{"hook_event_name":"PostToolUse"}'
ALLOW: Final = wire.HookReply(wire.VERSION, 0, b"", b"")

# What an interpreter loads by itself under -IS, in any version; site, os and the like are not among it.
START_UP: Final = frozenset(
    "_abc _codecs _frozen_importlib _frozen_importlib_external _imp _io _signal _thread _warnings _weakref"
    " abc builtins codecs encodings encodings.aliases encodings.utf_8 encodings.utf_8_sig io marshal posix"
    " sys time zipimport".split()
)

Behaviour = Callable[[socket.socket, bytes], object]


@contextlib.contextmanager
def server(directory: Path, behave: Behaviour) -> Generator[list[bytes]]:
    """A hook socket that collects the requests it reads and does with each connection what it is told."""
    requests: list[bytes] = []
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(directory / "hook.sock"))
        listener.listen(8)

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        frames = FrameBuffer()
                        while (request := frames.next()) is None:
                            frames.feed(connection.recv(65536))
                        requests.append(request)
                        behave(connection, request)

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield requests
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def says(reply: wire.Answer) -> Behaviour:
    return lambda connection, _: connection.sendall(pack(wire.encode(reply)))


def sends(frame: bytes) -> Behaviour:
    return lambda connection, _: connection.sendall(frame)


def environment(directory: Path) -> dict[str, str]:
    return {
        "LATCHD_RUNTIME_DIR": str(directory),
        "LATCHD_STATE_DIR": str(directory / "state" / "deep"),
        "SECRET_KEY": "sk-secret",
    }


def hook(directory: Path, payload: bytes, *words: str, **options: Any) -> tuple[int, bytes, bytes]:
    done = subprocess.run(
        [*LINE, *words],
        input=payload,
        capture_output=True,
        env=environment(directory),
        timeout=30,
        check=False,
        **options,
    )
    return done.returncode, done.stdout, done.stderr


def spooled(directory: Path) -> list[dict[str, Any]]:
    path = directory / "state" / "deep" / "spool.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


def is_refusal(answer: tuple[int, bytes, bytes], reason: str) -> bool:
    code, stdout, stderr = answer
    output = json.loads(stdout)["hookSpecificOutput"]
    return (
        code == 2
        and (output["hookEventName"], output["permissionDecision"]) == ("PreToolUse", "deny")
        and reason in output["permissionDecisionReason"]
        and stderr.decode() == output["permissionDecisionReason"] + "\n"
    )


def test_the_hook_loads_nothing_but_itself_and_three_modules(tmp_path: Path) -> None:
    with server(tmp_path, says(ALLOW)):
        code, loaded = run_with_importtime(tmp_path)

    assert (code, loaded) == (0, {"_socket", "latch_client.shim"})


def test_a_failing_hook_loads_one_module_more(tmp_path: Path) -> None:
    assert run_with_importtime(tmp_path) == (2, {"_socket", "latch_client.shim", "latch_client.fallbacks"})


def run_with_importtime(directory: Path) -> tuple[int, set[str]]:
    """The exit code, and what was loaded that the interpreter does not load by itself."""
    done = subprocess.run(
        [sys.executable, "-IS", "-X", "importtime", HOOK, "claudecode"],
        input=PRE,
        capture_output=True,
        env=environment(directory),
        timeout=30,
        check=False,
    )
    lines = [line for line in done.stderr.decode().splitlines() if line.startswith("import time:")]
    loaded = {line.rpartition("|")[2].strip() for line in lines} | {"_socket"}  # built in, in some builds
    return done.returncode, loaded - START_UP - {"imported package"}


def test_the_daemons_answer_is_passed_on_to_the_byte(tmp_path: Path) -> None:
    reply = wire.HookReply(wire.VERSION, 2, b'{"a":"\xc3\xa9"}', b"why\n")
    with server(tmp_path, says(reply)) as requests:
        answer = hook(tmp_path, PRE, cwd=tmp_path)

    assert answer == (2, b'{"a":"\xc3\xa9"}', b"why\n")
    assert [wire.decode_hook_side(request) for request in requests] == [
        wire.HookRequest(wire.VERSION, "claudecode", "", "", str(tmp_path), "", PRE)
    ]
    assert spooled(tmp_path) == []


def test_the_event_word_and_the_token_go_with_the_request(tmp_path: Path) -> None:
    (tmp_path / "hook.token").write_text("t0ken\n")
    with server(tmp_path, says(ALLOW)) as requests:
        answer = hook(tmp_path, PRE, "PreToolUse", cwd="/")

    assert answer == (0, b"", b"")
    assert [wire.decode_hook_side(request) for request in requests] == [
        wire.HookRequest(wire.VERSION, "claudecode", "PreToolUse", "", "/", "t0ken", PRE)
    ]


def test_three_megabytes_go_through_whole(tmp_path: Path) -> None:
    payload = json.dumps({"hook_event_name": "PostToolUse", "content": 'é\\"{' * 500_000}).encode()
    with server(tmp_path, says(wire.HookReply(wire.VERSION, 0, b"o" * 300_000, b""))) as requests:
        answer = hook(tmp_path, payload)

    request = wire.decode_hook_side(requests[0])

    assert answer == (0, b"o" * 300_000, b"")
    assert isinstance(request, wire.HookRequest)
    assert request.payload == payload


@pytest.mark.parametrize("kind", ["pipe", "socket"])
def test_a_payload_is_judged_although_the_agent_never_closes_the_stream(tmp_path: Path, kind: str) -> None:
    if kind == "pipe":
        ours, theirs = os.pipe()
    else:
        pair = socket.socketpair()
        ours, theirs = pair[0].detach(), pair[1].detach()
    with server(tmp_path, says(wire.HookReply(wire.VERSION, 2, b"no", b"no"))):
        os.write(theirs, PRE)
        done = subprocess.run(
            LINE, stdin=ours, capture_output=True, env=environment(tmp_path), timeout=30, check=False
        )
    blocking = os.get_blocking(ours)
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, done.stdout, done.stderr) == (2, b"no", b"no")
    assert blocking


def test_a_payload_that_comes_in_pieces_is_put_together(tmp_path: Path) -> None:
    with server(tmp_path, says(ALLOW)) as requests:
        process = subprocess.Popen(LINE, stdin=subprocess.PIPE, env=environment(tmp_path))
        assert process.stdin is not None
        for at in range(len(PRE)):
            process.stdin.write(PRE[at : at + 1])
            process.stdin.flush()
        code = process.wait(30)
        process.stdin.close()

    request = wire.decode_hook_side(requests[0])

    assert code == 0
    assert isinstance(request, wire.HookRequest)
    assert request.payload == PRE


def test_an_empty_stdin_is_the_daemons_to_judge(tmp_path: Path) -> None:
    with server(tmp_path, says(wire.HookReply(wire.VERSION, 2, b"", b"empty"))):
        assert hook(tmp_path, b"") == (2, b"", b"empty")


def test_without_a_daemon_a_proposal_is_refused_and_leaves_a_line(tmp_path: Path) -> None:
    answer = hook(tmp_path, PRE)
    state = tmp_path / "state" / "deep"

    assert is_refusal(answer, "start it with `latchctl up`")
    assert [{**line, "pid": 0} for line in spooled(tmp_path)] == [
        {
            "v": 1,
            "connector": "claudecode",
            "event": "PreToolUse",
            "why": "no-daemon",
            "pid": 0,
            "size": len(PRE),
        }
    ]
    assert [oct(path.stat().st_mode & 0o777) for path in (state, state / "spool.jsonl")] == ["0o700", "0o600"]
    assert b"secret" not in b"".join(answer[1:]) + (state / "spool.jsonl").read_bytes()


def test_without_a_daemon_other_events_are_silent_and_leave_a_line(tmp_path: Path) -> None:
    assert hook(tmp_path, POST) == (0, b"", b"")
    assert [(line["event"], line["why"]) for line in spooled(tmp_path)] == [("PostToolUse", "no-daemon")]


def test_a_socket_that_nobody_listens_on_is_no_daemon(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(tmp_path / "hook.sock"))

    assert is_refusal(hook(tmp_path, PRE), "latchd is not running")


def test_a_file_in_the_place_of_the_socket_is_no_daemon(tmp_path: Path) -> None:
    (tmp_path / "hook.sock").touch()

    assert is_refusal(hook(tmp_path, PRE), "latchd is not running")


def test_a_path_too_long_for_the_kernel_is_refused(tmp_path: Path) -> None:
    assert is_refusal(hook(tmp_path / ("d" * 120), PRE), "latchd is not running")


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (b"", "gave no answer"),
        (b"\x00\x00", "gave no answer"),
        (b"\xff\xff\xff\xff", "gave no answer"),
        (b"\x00\x00\x00\x00", "gave no answer"),
        (pack(b"junk"), "gave no answer"),
        (pack(wire.encode(ALLOW))[:-1], "gave no answer"),
        (pack(wire.encode(ALLOW)) * 2, "gave no answer"),
        (pack(wire.encode(wire.HookReply(2, 0, b"", b""))), "another protocol version"),
        (pack(wire.encode(wire.HookReply(wire.VERSION, 1, b"", b""))), "exit code 1"),
        (pack(wire.encode(wire.Fault(wire.VERSION, "busy", 'too "many"\n'))), "too ?many??"),
    ],
)
def test_an_answer_that_is_none_is_a_refusal(tmp_path: Path, frame: bytes, reason: str) -> None:
    with server(tmp_path, sends(frame)):
        assert is_refusal(hook(tmp_path, PRE), reason)


@pytest.mark.slow
def test_a_daemon_that_never_answers_is_a_refusal(tmp_path: Path) -> None:
    done = threading.Event()
    with server(tmp_path, lambda _connection, _request: done.wait(30)):
        answer = hook(tmp_path, PRE)
        done.set()

    assert is_refusal(answer, "did not answer in time")


@pytest.mark.slow
def test_a_daemon_that_takes_no_connection_is_a_refusal(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener, contextlib.ExitStack() as waiting:
        listener.bind(str(tmp_path / "hook.sock"))
        listener.listen(0)
        with contextlib.suppress(BlockingIOError):
            while True:
                one = waiting.enter_context(socket.socket(socket.AF_UNIX))
                one.setblocking(False)
                one.connect(str(tmp_path / "hook.sock"))
        answer = hook(tmp_path, PRE)

    assert is_refusal(answer, "did not answer in time")


@pytest.mark.slow
@pytest.mark.parametrize("sent", [b"", PRE[:-1]])
def test_a_payload_that_never_ends_is_a_refusal(tmp_path: Path, sent: bytes) -> None:
    ours, theirs = os.pipe()
    os.write(theirs, sent)
    done = subprocess.run(
        LINE, stdin=ours, capture_output=True, env=environment(tmp_path), timeout=30, check=False
    )
    os.close(ours)
    os.close(theirs)

    assert is_refusal((done.returncode, done.stdout, done.stderr), "did not send the hook's JSON in time")


@pytest.mark.parametrize(("event", "code"), [("PreToolUse", 2), ("PostToolUse", 0)])
def test_a_payload_over_the_frame_is_not_sent(tmp_path: Path, event: str, code: int) -> None:
    payload = b'{"hook_event_name":"' + event.encode() + b'","x":"' + b"x" * shim.MAX_FRAME + b'"}'
    with (tmp_path / "payload").open("w+b") as file, server(tmp_path, says(ALLOW)) as requests:
        file.write(payload)
        file.seek(0)
        done = subprocess.run(
            LINE, stdin=file, capture_output=True, env=environment(tmp_path), timeout=30, check=False
        )

    assert (done.returncode, requests) == (code, [])
    assert spooled(tmp_path)[0]["why"].startswith("too-large")


def test_the_largest_payload_that_fits_is_sent(tmp_path: Path) -> None:
    head, tail = shim.envelope("claudecode", "", b"/", b"")
    room = shim.MAX_FRAME - len(head) - len(tail) - 5
    payload = b'{"x":"' + b"x" * (room - 8) + b'"}'
    with server(tmp_path, says(ALLOW)) as requests:
        answer = hook(tmp_path, payload, cwd="/")

    assert answer == (0, b"", b"")
    assert [len(request) for request in requests] == [shim.MAX_FRAME]


def test_a_home_that_is_nowhere_is_a_refusal() -> None:
    done = subprocess.run(LINE, input=PRE, capture_output=True, env={}, timeout=30, check=False)

    assert is_refusal((done.returncode, done.stdout, done.stderr), "says where latchd is")


def test_fail_open_lets_a_proposal_through_and_says_so_in_the_spool(tmp_path: Path) -> None:
    assert hook(tmp_path, PRE, "--fail-open") == (0, b"", b"")
    assert [line["why"] for line in spooled(tmp_path)] == ["no-daemon (let through, --fail-open)"]


def test_fail_open_changes_nothing_of_the_daemons_own_refusal(tmp_path: Path) -> None:
    with server(tmp_path, says(wire.HookReply(wire.VERSION, 2, b"no", b"no"))):
        assert hook(tmp_path, PRE, "--fail-open") == (2, b"no", b"no")


def test_a_full_spool_takes_no_more(tmp_path: Path) -> None:
    state = tmp_path / "state" / "deep"
    state.mkdir(parents=True)
    (state / "spool.jsonl").write_bytes(b"x" * (1 << 20) + b"\n")
    hook(tmp_path, PRE)

    assert (state / "spool.jsonl").stat().st_size == (1 << 20) + 1


def test_a_spool_that_is_a_link_is_not_written_through(tmp_path: Path) -> None:
    state = tmp_path / "state" / "deep"
    state.mkdir(parents=True)
    (tmp_path / "other").touch()
    (state / "spool.jsonl").symlink_to(tmp_path / "other")

    assert is_refusal(hook(tmp_path, PRE), "latchd is not running")
    assert (tmp_path / "other").read_bytes() == b""


@pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["--nope", "claudecode"]])
def test_a_hook_line_that_is_none_is_a_refusal(words: list[str]) -> None:
    done = subprocess.run(
        [*LINE[:3], *words], input=PRE, capture_output=True, env={}, timeout=30, check=False
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"usage: hook.py CONNECTOR")


def test_a_terminal_is_told_that_an_agent_starts_this(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    done = subprocess.run(
        LINE, stdin=theirs, capture_output=True, env=environment(tmp_path), timeout=30, check=False
    )
    os.close(ours)
    os.close(theirs)

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"latchd: stdin is a terminal")


@pytest.mark.parametrize("closed", [0, 1, 2])
def test_a_closed_standard_stream_never_makes_an_allow(tmp_path: Path, closed: int) -> None:
    script = f'exec "$@" {closed}>&-'
    with server(tmp_path, says(wire.HookReply(wire.VERSION, 0, b"a question", b""))):
        done = subprocess.run(
            ["/bin/sh", "-c", script, "sh", *LINE],
            input=PRE,
            capture_output=True,
            env=environment(tmp_path),
            timeout=30,
            check=False,
        )

    assert (done.returncode, done.stdout) == ((0, b"a question") if closed == 2 else (2, done.stdout))


def test_a_broken_package_is_a_refusal(tmp_path: Path) -> None:
    package = tmp_path / "latch_client"
    package.mkdir()
    (package / "hook.py").write_bytes(Path(HOOK).read_bytes())
    (package / "shim.py").write_text("import nothing_of_that_name\n")
    done = subprocess.run(
        [sys.executable, "-IS", str(package / "hook.py"), "claudecode"],
        input=PRE,
        capture_output=True,
        env={},
        timeout=30,
        check=False,
    )

    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == b"latchd: the hook is broken (ModuleNotFoundError); run `latchctl doctor`\n"


def test_a_server_of_another_user_is_not_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stranger(_connection: object) -> tuple[int, int]:
        return 1, os.getuid() + 1

    monkeypatch.setattr(shim, "peer", stranger)
    pair = socket.socketpair()
    with pair[0], pair[1], pytest.raises(shim.Failure) as caught:
        shim.exchange(pair[0], b"\x00\x00\x00\x01x", shim.Deadline(1))

    assert (caught.value.why, caught.value.detail) == ("not-ours", f"it belongs to user {os.getuid() + 1}")


def test_a_daemon_that_systemd_is_starting_has_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    late = threading.Event()
    ours, theirs = socket.socketpair()

    def held(_pid: int) -> bool:
        late.set()
        return True

    def answer() -> None:
        late.wait(30)
        says(ALLOW)(theirs, b"")

    monkeypatch.setattr(shim, "held_by_systemd", held)
    thread = threading.Thread(target=answer)
    thread.start()
    with ours, theirs:
        reply = shim.exchange(ours, pack(b"x"), shim.Deadline(0.03))
        thread.join()

    assert shim.decode_reply(reply) == (0, b"", b"")


def test_who_holds_a_socket_is_read_from_the_process_table() -> None:
    assert not shim.held_by_systemd(os.getpid())
    assert not shim.held_by_systemd(0)


def test_with_autostart_a_missing_daemon_is_started_once_and_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[dict[bytes, bytes]] = []
    listener = socket.socket(socket.AF_UNIX)

    def spawn(environ: dict[bytes, bytes]) -> None:
        spawned.append(environ)
        listener.bind(str(tmp_path / "hook.sock"))
        listener.listen(1)

    monkeypatch.setattr(autostart, "spawn", spawn)
    environ = {b"HOME": b"/h"}
    with listener:
        shim.connected(os.fsencode(tmp_path), shim.Deadline(10), shim.Naps(), environ).close()

    assert spawned == [environ]


def test_with_autostart_a_daemon_that_never_comes_is_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spawned: list[object] = []
    monkeypatch.setattr(autostart, "spawn", spawned.append)
    monkeypatch.setattr(shim, "DEADLINE_STARTING", 0.05)
    with pytest.raises(shim.Failure):
        shim.connected(os.fsencode(tmp_path), shim.Deadline(0.05), shim.Naps(), {b"HOME": b"/h"})

    assert spawned == [{b"HOME": b"/h"}]


def test_a_daemon_started_by_the_hook_gets_nothing_of_the_agent(tmp_path: Path) -> None:
    report = tmp_path / "report"
    program = tmp_path / "python"
    tell = f'{{ echo "$@"; pwd; env; ls -l /proc/$$/fd; }} > {report} 2>&1'
    program.write_text(f"#!/bin/sh\n{tell}\n")
    program.chmod(0o755)
    script = (
        "import sys, posix\n"
        f"sys.path.insert(0, {str(Path(HOOK).parent.parent)!r})\n"
        "from latch_client import autostart\n"
        f"sys.executable = {str(program)!r}\n"
        "autostart.spawn(posix.environ)\n"
        "posix.wait()\n"
    )
    extra, other = os.pipe()
    subprocess.run(
        [sys.executable, "-I", "-c", script],
        input=b"",
        capture_output=True,
        env={
            "HOME": "/h",
            "XDG_RUNTIME_DIR": "/r",
            "LATCHD_STATE_DIR": "/s",
            "ANTHROPIC_API_KEY": "sk-secret",
        },
        pass_fds=(extra,),
        timeout=30,
        check=True,
    )
    os.close(extra)
    os.close(other)
    words, cwd, *rest = report.read_text().splitlines()

    assert (words, cwd) == ("-P -m latchd", "/")
    assert "sk-secret" not in "\n".join(rest)
    assert {"HOME=/h", "XDG_RUNTIME_DIR=/r", "LATCHD_STATE_DIR=/s"} <= set(rest)
    assert [line for line in rest if "pipe:" in line or "socket:" in line] == []


def test_only_what_says_where_things_live_is_passed_to_a_started_daemon() -> None:
    assert autostart.environment({b"HOME": b"/h", b"LATCHD_X": b"1", b"OPENAI_API_KEY": b"k"}) == {
        b"HOME": b"/h",
        b"LATCHD_X": b"1",
    }
