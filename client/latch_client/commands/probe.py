"""`latchctl probe`: what the running daemon would tell an agent about this hook payload; no state is kept."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path

from latch_client import hook_token, locate
from latch_client.errors import DONE, CommandError, UsageError
from latch_client.link import ask, stored
from latch_client.output import print_json, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.render_records import line
from latch_client.subparsers import Subparsers
from latch_contracts.frames import MAX_FRAME
from latch_contracts.places import Places
from latch_contracts.records import VerdictRecord
from latch_contracts.wire import VERSION, HookReply, HookRequest, Watch


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "probe",
        help="ask the running daemon about a hook payload; no state is kept",
        description="Read a hook payload on stdin and show what the agent would get for it. The call is "
        "judged as ever and leaves a record marked as a probe, but no row: nothing follows from it.",
    )
    parser.add_argument(
        "connector", nargs="?", default="claudecode", help="whose payload (default claudecode)"
    )
    parser.add_argument(
        "--event", default="", metavar="NAME", help="the event, for agents that don't say it themselves"
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    if sys.stdin.isatty():
        raise UsageError("the hook payload is read from stdin: `latchctl probe < payload.json`")
    payload = sys.stdin.buffer.read(MAX_FRAME + 1)
    if not payload.strip():
        raise CommandError("no hook payload on stdin")
    places = locate.places()
    _, cursor = stored(places.events_socket, Watch(VERSION, cursor=-1, follow=False))
    reply = ask(places.hook_socket, _request(arguments, places, payload), HookReply)
    verdict = _verdict(places, arguments.connector, cursor)
    if arguments.json:
        print_json(
            {
                "exit_code": reply.exit_code,
                "stdout": reply.stdout.decode("utf-8", "replace"),
                "stderr": reply.stderr.decode("utf-8", "replace"),
                "verdict": verdict,
            }
        )
    else:
        print("\n".join(lines(reply, verdict, colour=wanted(sys.stdout))))
    return DONE


def lines(reply: HookReply, verdict: VerdictRecord | None, *, colour: bool = False) -> Iterator[str]:
    """The human form: the three things an agent gets, then the record."""
    paint = Paint(coloured=colour)
    for name, value in (
        ("exit code", str(reply.exit_code)),
        ("stdout", _text(reply.stdout)),
        ("stderr", _text(reply.stderr)),
    ):
        yield f"{name:<9}  {value or paint('(empty)', Style.DIM)}"
    if verdict is not None:
        yield f"{'record':<9}  {line(verdict, colour=colour)}"


def _request(arguments: argparse.Namespace, places: Places, payload: bytes) -> HookRequest:
    return HookRequest(
        VERSION,
        connector=arguments.connector,
        event=arguments.event,
        agent_version="",
        cwd=str(Path.cwd()),
        token=hook_token.content(places.token),
        payload=payload,
        probe=True,
    )


def _verdict(places: Places, connector: str, cursor: int) -> VerdictRecord | None:
    """The record of our probe; None when it left none, or another probe ran at the same time."""
    watch = Watch(VERSION, cursor=cursor, follow=False, kinds=["verdict"], connectors=[connector])
    records, _ = stored(places.events_socket, watch)
    probes = [record for record in records if isinstance(record, VerdictRecord) and record.probe]
    return probes[0] if len(probes) == 1 else None


def _text(output: bytes) -> str:
    return printable(output.decode("utf-8", "replace").rstrip("\n"))
