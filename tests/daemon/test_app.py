"""The daemon as a whole in this process, with a small engine: start, reload, and the order of its end."""

from __future__ import annotations

import io
import os
import signal
import socket
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import msgspec
import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from doubles import FakeEngine, TrioClock
from latch_client.cli import main as latchctl
from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places
from latch_contracts.records import FaultRecord, HealthRecord, LifecycleRecord, Record
from latch_contracts.wire import (
    VERSION,
    Answer,
    End,
    HookReply,
    HookRequest,
    Streamed,
    Watch,
    decode_answer,
    encode,
)
from latchd import app
from latchd.logs import Format, Level, Log
from latchd.notify import Notifier
from latchd.policy import Hook, Policy, PolicyError, Profile, fingerprint
from latchd.rules.bundled import released
from latchd.rules.generation import Generation
from latchd.rules.standing import standing_in_steps
from latchd.sockets import bind

pytestmark = pytest.mark.trio


class Bench:
    def __init__(self, root: Path) -> None:
        self.places = Places(runtime=str(root), state=str(root), config=str(root))
        self.engine = FakeEngine()
        self.manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.manager.bind(str(root / "n"))
        self.manager.setblocking(False)
        self.policy: Policy | PolicyError = Policy()
        self.log = io.BytesIO()
        self.parts = app.Parts(
            places=self.places,
            engine=self.engine,
            hook=bind(self.places.hook_socket),
            events=bind(self.places.events_socket),
            clock=TrioClock(),
            notifier=Notifier({"NOTIFY_SOCKET": str(root / "n")}, os.getpid()),
            log=Log(self.log, Format.HUMAN, Level.DEBUG),
            reload=self._reload,
            rules=self._rules,
            version="0.0",
        )

    def close(self) -> None:
        self.parts.hook.close()
        self.parts.events.close()
        self.manager.close()

    def told_manager(self) -> list[bytes]:
        told: list[bytes] = []
        while True:
            try:
                told.append(self.manager.recv(999))
            except BlockingIOError:
                return told

    def move_hook_socket_away(self) -> None:
        Path(self.places.hook_socket).rename(f"{self.places.hook_socket}.moved")

    def token(self) -> str | None:
        path = Path(self.places.token)
        return path.read_text() if path.exists() else None

    def _rules(self, policy: Policy) -> Iterator[Generation | None]:
        return standing_in_steps(policy, f"{self.places.config}/rules")

    def _reload(self) -> Policy:
        if isinstance(self.policy, PolicyError):
            raise self.policy
        return self.policy


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    made = Bench(tmp_path)
    yield made
    made.close()


async def answers(stream: trio.SocketStream, buffer: FrameBuffer) -> Answer | None:
    while (message := buffer.next()) is None:
        data = await stream.receive_some()
        if not data:
            return None
        buffer.feed(data)
    return decode_answer(message)


CALL = pack(encode(HookRequest(VERSION, "claudecode", "", "", "/", "", b"1")))
STARTED = HealthRecord(seq=1, health="ok", note="latchd 0.0 started")


async def test_it_says_it_is_ready_when_its_sockets_answer_and_that_it_stops_when_told(bench: Bench) -> None:
    async with trio.open_nursery() as nursery:
        line = await nursery.start(app.serve, bench.parts)
        told = bench.told_manager()
        os.kill(os.getpid(), signal.SIGTERM)

    ready = f"ready, hook {bench.places.hook_socket}, events {bench.places.events_socket}, profile balanced"
    assert line == f"latchd: {ready}"
    assert told == [b"READY=1\nSTATUS=" + ready.encode()]
    assert bench.told_manager() == [b"STOPPING=1"]
    assert bench.engine.log == [STARTED, HealthRecord(seq=2, health="ok", note="latchd 0.0 stopped")]
    assert [line.split(" ", 1)[1] for line in bench.log.getvalue().decode().splitlines()] == [
        "health  ok  latchd 0.0 started",
        "health  ok  latchd 0.0 stopped",
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_request_under_way_is_answered_before_the_end(bench: Bench, number: signal.Signals) -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(app.serve, bench.parts)
        stream, buffer = await trio.open_unix_socket(bench.places.hook_socket), FrameBuffer()
        await stream.send_all(CALL[:7])
        await wait_all_tasks_blocked()
        os.kill(os.getpid(), number)
        await wait_all_tasks_blocked()
        await stream.send_all(CALL[7:])

        assert [await answers(stream, buffer) for _ in range(2)] == [HookReply(VERSION, 0, b"1", b""), None]
        await stream.aclose()


async def test_a_request_that_never_comes_delays_the_end_two_seconds_at_most(
    bench: Bench, autojump_clock: trio.testing.MockClock
) -> None:
    async with trio.open_nursery() as nursery:
        # Nothing is logged: a jumping clock does not wait for the log's thread.
        silent = Log(bench.log, Format.HUMAN, Level.ERROR)
        await nursery.start(app.serve, msgspec.structs.replace(bench.parts, log=silent))
        stream = await trio.open_unix_socket(bench.places.hook_socket)
        await stream.send_all(CALL[:7])
        await wait_all_tasks_blocked()
        started = trio.current_time()
        os.kill(os.getpid(), signal.SIGTERM)
    took = trio.current_time() - started
    await stream.aclose()

    assert took == app.DRAIN_SECONDS


async def test_watchers_hear_the_end_and_where_to_go_on(bench: Bench) -> None:
    async with trio.open_nursery() as nursery:
        await nursery.start(app.serve, bench.parts)
        stream, buffer = await trio.open_unix_socket(bench.places.events_socket), FrameBuffer()
        await stream.send_all(pack(encode(Watch(VERSION, cursor=0))))
        first = await answers(stream, buffer)
        os.kill(os.getpid(), signal.SIGTERM)

        assert [first, await answers(stream, buffer), await answers(stream, buffer)] == [
            Streamed(VERSION, STARTED),
            End(VERSION, 1),
            None,
        ]
        await stream.aclose()


async def reload(bench: Bench, policy: Policy | PolicyError) -> list[Record]:
    """What is recorded when the policy on disk has become this one."""
    bench.policy = policy
    before = len(bench.engine.log)
    async with trio.open_nursery() as nursery:
        await nursery.start(app.serve, bench.parts)
        os.kill(os.getpid(), signal.SIGHUP)
        await wait_all_tasks_blocked()
        os.kill(os.getpid(), signal.SIGTERM)
    return bench.engine.log[before + 1 : -1]


async def test_a_hangup_reads_the_policy_again(bench: Bench) -> None:
    strict = Policy(profile=Profile.STRICT)
    rules = released()
    note = (
        f"policy read again, profile strict, {fingerprint(strict).hex()[:16]}; "
        f"{len(rules.entries)} rules, {rules.fingerprint.hex()[:16]}"
    )

    assert await reload(bench, strict) == [LifecycleRecord(seq=2, note=note)]
    assert bench.engine.policy == strict


async def test_a_policy_that_can_not_be_used_is_refused_and_the_old_one_stays(bench: Bench) -> None:
    bad = PolicyError("config `c`: `profil` is not a key of the policy")

    assert await reload(bench, bad) == [
        FaultRecord(
            seq=2,
            code="policy-refused",
            detail="the old policy stays: config `c`: `profil` is not a key of the policy",
        )
    ]
    assert bench.engine.policy == Policy()


PACK = """version: 1
category: mine
rules:
  - id: mine.deploy
    title: a deployment is begun
    severity: critical
    confidence: 0.9
    tags: [deployment]
    programs: [deploytool]
    expression: f.commands.exists(c, c.program == "deploytool")
    pattern: ^deploytool
    message: this deploys
    instead: let the person do it
    denies: [deploytool prod]
    passes: [echo deploytool]
"""


async def test_rules_that_can_not_be_used_are_refused_with_file_and_line_and_the_old_ones_stay(
    bench: Bench,
) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    pack = rules / "mine.yaml"
    pack.write_text(PACK)
    (told,) = await app.reloaded(bench.parts)
    standing_rules = bench.engine.rules
    pack.write_text(PACK.replace("c.program ==", "c.programme =="))
    why = (
        f"the old rules stay: {pack}:10: `mine.deploy`: expression 1:23: `programme` is no field of a command"
    )

    assert isinstance(told, LifecycleRecord)
    assert standing_rules.entry("mine.deploy") is not None
    assert await app.reloaded(bench.parts) == [
        FaultRecord(seq=2, code="rules-refused", detail=why),
        HealthRecord(seq=3, health="degraded", note=why),
    ]
    assert bench.engine.rules is standing_rules
    assert bench.engine.degraded == {"rules": why}


async def test_rules_that_their_own_examples_contradict_are_refused_in_the_words_of_rules_validate(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    pack = rules / "mine.yaml"
    pack.write_text(PACK.replace("passes: [echo deploytool]", "passes: [deploytool test]"))
    why = f"{pack}:4: `mine.deploy`: `deploytool test` is found by its own rule"

    assert (latchctl(["rules", "validate", str(pack)]), capsys.readouterr().out) == (2, f"{why}\n")
    assert await app.reloaded(bench.parts) == [
        FaultRecord(seq=1, code="rules-refused", detail=f"the old rules stay: {why}"),
        HealthRecord(seq=2, health="degraded", note=f"the old rules stay: {why}"),
    ]
    assert bench.engine.rules is released()


async def test_rules_that_nothing_shows_are_told_of_at_the_start_and_when_they_are_read_again(
    bench: Bench, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    pack = rules / "mine.yaml"
    pack.write_text(PACK.replace("    denies: [deploytool prod]\n", ""))
    why = f"{pack}:4: `mine.deploy`: has no `denies`, so nothing shows that it can match"
    doubt, read = await app.reloaded(bench.parts)
    async with trio.open_nursery() as nursery:
        await nursery.start(app.serve, bench.parts)
        os.kill(os.getpid(), signal.SIGTERM)

    assert (latchctl(["rules", "validate", str(pack)]), capsys.readouterr().out) == (2, f"{why}\n")
    assert isinstance(read, LifecycleRecord)
    assert doubt == FaultRecord(seq=1, code="rules-doubtful", detail=why)
    assert [one.detail for one in bench.engine.log if isinstance(one, FaultRecord)] == [why, why]
    assert bench.engine.degraded == {}


async def turns_while_reloading(bench: Bench) -> int:
    """How often another task had its turn during a reload."""
    turns = 0

    async def others() -> None:
        nonlocal turns
        while True:
            turns += 1
            await trio.lowlevel.checkpoint()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(others)
        await app.reloaded(bench.parts)
        nursery.cancel_scope.cancel()
    return turns


async def test_calls_are_answered_while_a_candidate_is_tried(bench: Bench) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    examples = ", ".join(f"deploytool x{number}" for number in range(40))
    (rules / "mine.yaml").write_text(PACK.replace("[deploytool prod]", f"[{examples}]"))
    turns = await turns_while_reloading(bench)

    assert turns >= 40  # a turn between any two examples


async def test_calls_are_answered_while_rules_are_compiled(bench: Bench) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    one = PACK.partition("rules:\n")[2].replace("    denies: [deploytool prod]\n", "")
    many = "".join(one.replace("mine.deploy", f"mine.deploy-{number}") for number in range(40))
    (rules / "mine.yaml").write_text(f"version: 1\ncategory: mine\nrules:\n{many}")
    turns = await turns_while_reloading(bench)

    assert bench.engine.rules.entry("mine.deploy-39") is not None
    assert turns >= 40  # a turn between any two rules


async def test_rules_that_are_mended_make_the_daemon_whole_again(bench: Bench) -> None:
    rules = Path(bench.places.config) / "rules"
    rules.mkdir()
    (rules / "mine.yaml").write_text("version: 1\n")
    await app.reloaded(bench.parts)
    (rules / "mine.yaml").write_text(PACK)
    mended, read = await app.reloaded(bench.parts)

    assert mended == HealthRecord(seq=3, health="ok", note="the rules can be used again")
    assert isinstance(read, LifecycleRecord)
    assert bench.engine.degraded == {}


async def test_the_token_comes_and_goes_with_the_policy_and_is_else_kept(bench: Bench) -> None:
    bench.policy = Policy(hook=Hook(require_token=True))
    await app.reloaded(bench.parts)
    first = bench.token()
    await app.reloaded(bench.parts)

    assert first is not None
    assert (bench.engine.token, bench.token()) == (first, first)
    bench.policy = Policy()
    await app.reloaded(bench.parts)
    assert (bench.engine.token, bench.token()) == (None, None)


async def test_a_socket_that_leads_elsewhere_is_no_readiness(bench: Bench) -> None:
    """Somebody moved our socket away and listens in its place: then nobody may be told that we are ready."""
    bench.move_hook_socket_away()
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.bind(bench.places.hook_socket)
        with pytest.raises(app.Deaf, match="does not answer from this process"):
            await app.serve(bench.parts)

    assert bench.told_manager() == [b"STOPPING=1"]
