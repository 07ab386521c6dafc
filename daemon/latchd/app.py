"""The composition root: everything is made here, in order, and ends here, in the other order.

Nurseries are nested in order of death: the log outlives the scheduler, which outlives the
connections, which outlive the listeners.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

import msgspec
import trio

from latch_contracts.frames import FrameBuffer, pack
from latch_contracts.places import Places
from latch_contracts.records import Record
from latch_contracts.wire import VERSION, Status, StatusRequest, decode_answer, encode
from latchd import hook_token, logs
from latchd.clock import Clock
from latchd.engine_port import Engine
from latchd.hub import Hub
from latchd.notify import Notifier
from latchd.peers import Slotted
from latchd.policy import Policy, PolicyError, fingerprint
from latchd.rules.generation import Generation
from latchd.rules.standing import DIRECTORY, RulesError, brought
from latchd.rules.trying import OWN, Plan, doubted, planned, refusals
from latchd.scheduler import Scheduler
from latchd.server import About, Server
from latchd.sockets import Bound

# What is answered within this time after the signal still is; an agent waits no longer anyway.
DRAIN_SECONDS: Final = 2.0
SELF_CONNECT_SECONDS: Final = 5.0


class Deaf(Exception):
    """Our own sockets did not answer us; the text is one line."""


class Parts(msgspec.Struct, frozen=True):
    """What a daemon is made of.

    ``reload`` reads the policy anew, raising PolicyError or OSError; ``rules`` the rules that go with a
    policy, raising RulesError: None after each piece of work, at last the rules.
    """

    places: Places
    engine: Engine
    hook: Bound
    events: Bound
    clock: Clock
    notifier: Notifier
    log: logs.Log
    reload: Callable[[], Policy]
    rules: Callable[[Policy], Iterator[Generation | None]]
    version: str


async def serve(parts: Parts, *, task_status: trio.TaskStatus[str] = trio.TASK_STATUS_IGNORED) -> None:
    """Run until SIGTERM or SIGINT, or cancelled; started, with the ready line, once the sockets answer.

    Raises Deaf when they don't. Does not close what it was given.
    """
    engine, hub = parts.engine, Hub()
    about = About(parts.version, os.getpid(), parts.clock.wall_ms())

    async def complain(error: Exception) -> None:
        await trio.to_thread.run_sync(parts.log.failure, error, abandon_on_cancel=True)

    server = Server(engine, hub, about, complain)
    scheduler = Scheduler(engine, hub, parts.places)

    async def until_told_to_stop() -> None:
        hub.publish(engine.health(engine.health_word, f"latchd {parts.version} started"))
        hub.publish(_doubts(engine, _plan(parts, engine.rules)))
        ready = ready_line(parts)
        parts.notifier.ready(ready)
        task_status.started(f"latchd: {ready}")
        async for number in signals:
            if number != signal.SIGHUP:
                break
            hub.publish(await reloaded(parts))
            scheduler.look_again()

    with trio.open_signal_receiver(signal.SIGTERM, signal.SIGINT, signal.SIGHUP) as signals:
        async with trio.open_nursery() as logging:
            await logging.start(logs.follow, hub, parts.log)
            async with trio.open_nursery() as duties:
                await duties.start(scheduler.run, parts.notifier)
                duties.start_soon(server.tell_of_faults)
                deaf = await _connected(parts, server, until_told_to_stop)
                hub.publish(engine.health(engine.health_word, f"latchd {parts.version} stopped"))
                duties.cancel_scope.cancel()
            logging.cancel_scope.cancel()
    if deaf:
        raise Deaf(f"socket `{deaf}` does not answer from this process")


async def _connected(parts: Parts, server: Server, until_told_to_stop: Callable[[], Awaitable[None]]) -> str:
    """Accept, wait, stop accepting, and let what is under way finish. The path that is deaf, or ""."""
    async with trio.open_nursery() as connections:

        async def accept(serve: Callable[[trio.SocketStream], Awaitable[None]], listener: Slotted) -> None:
            await trio.serve_listeners(serve, [listener], handler_nursery=connections)

        async with trio.open_nursery() as accepting:
            accepting.start_soon(accept, server.hook, server.hook_listener(parts.hook.socket))
            accepting.start_soon(accept, server.events, server.events_listener(parts.events.socket))
            if not (deaf := await _first_that_does_not_answer(parts)):
                await until_told_to_stop()
            parts.notifier.stopping()
            accepting.cancel_scope.cancel()
        server.drain()
        connections.cancel_scope.deadline = trio.current_time() + DRAIN_SECONDS
    return deaf


def ready_line(parts: Parts) -> str:
    profile = parts.engine.policy.profile.value
    return f"ready, hook {parts.hook.path}, events {parts.events.path}, profile {profile}"


async def reloaded(parts: Parts) -> list[Record]:
    """Judge by the policy and the rules as they are on disk now, both or neither.

    INVARIANT (a bad candidate changes nothing): what can't be used is refused with file, line and reason,
    and the old policy and rules stay, whole. Calls are answered, by the old ones, while the candidate is
    compiled and tried.
    """
    engine = parts.engine
    try:
        policy = parts.reload()
        rules = await _made(parts.rules(policy))
        plan = _plan(parts, rules)
        await _held(plan)
        if policy.hook.require_token != (engine.token is not None):
            engine.token = hook_token.provide(parts.places.token, wanted=policy.hook.require_token)
    except (PolicyError, OSError) as error:
        return engine.fault("policy-refused", f"the old policy stays: {error}")
    except RulesError as error:
        engine.degraded["rules"] = note = f"the old rules stay: {error}"
        return [*engine.fault("rules-refused", note), *engine.health("degraded", note)]
    engine.adopt(policy, rules)
    told = _doubts(engine, plan)
    if engine.degraded.pop("rules", None) is not None:
        told += engine.health(engine.health_word, "the rules can be used again")
    asked = sum(entry.enabled for entry in rules.entries)
    return told + engine.lifecycle(
        f"policy read again, profile {policy.profile.value}, {fingerprint(policy).hex()[:16]}; "
        f"{asked} rules, {rules.fingerprint.hex()[:16]}"
    )


def _plan(parts: Parts, rules: Generation) -> Plan:
    return planned(rules, brought(rules, f"{parts.places.config}/{DIRECTORY}"), OWN)


async def _made(steps: Iterator[Generation | None]) -> Generation:
    """The rules, with room for calls between any two steps. Raises RulesError."""
    for made in steps:
        if made is not None:
            return made
        await trio.lowlevel.checkpoint()
    raise RulesError("the rules were not made")


async def _held(plan: Plan) -> None:
    """Try the rules, with room for calls between any two steps. Raises RulesError."""
    for fault in refusals(plan):
        if fault is not None:
            raise RulesError(str(fault))
        await trio.lowlevel.checkpoint()


def _doubts(engine: Engine, plan: Plan) -> list[Record]:
    """What a person should know of rules that are in force."""
    why = doubted(plan)
    return engine.fault("rules-doubtful", why) if why else []


async def _first_that_does_not_answer(parts: Parts) -> str:
    """Ask both sockets as a client would: whoever waits for READY connects right after. "" = both do."""
    for bound in (parts.hook, parts.events):
        answer = None
        with trio.move_on_after(SELF_CONNECT_SECONDS):
            answer = await _ask(bound.path)
        if not isinstance(answer, Status) or answer.pid != os.getpid():
            return bound.path
    return ""


async def _ask(path: str) -> object:
    buffer = FrameBuffer()
    try:
        async with await trio.open_unix_socket(path) as stream:
            await stream.send_all(pack(encode(StatusRequest(VERSION))))
            while (message := buffer.next()) is None:
                data = await stream.receive_some()
                if not data:
                    return None
                buffer.feed(data)
    except OSError:
        return None
    return decode_answer(message)
