"""`latchctl status`: how the daemon is, in its own words."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from typing import Final

import msgspec

from latch_client import locate
from latch_client.errors import DONE
from latch_client.link import ask
from latch_client.output import print_json, table, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.subparsers import Subparsers
from latch_contracts.places import Places
from latch_contracts.wire import VERSION, Status, StatusRequest

DEGRADED: Final = 3


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "status",
        help="say how the daemon is",
        description="How the daemon is. Exit code 0 when it is well, 3 when it is degraded, 1 when it is "
        "not running.",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    places = locate.places()
    status = ask(places.events_socket, StatusRequest(VERSION), Status)
    if arguments.json:
        print_json(
            {name: value for name, value in msgspec.structs.asdict(status).items() if name != "version"}
        )
    else:
        paint = Paint(coloured=wanted(sys.stdout))
        print("\n".join(lines(status, places, now_ms=round(time.time() * 1000), paint=paint)))
    return DONE if status.health == "ok" else DEGRADED


def lines(status: Status, places: Places, *, now_ms: int, paint: Paint) -> Iterator[str]:
    """The human form, line by line."""
    health = paint(printable(status.health), Style.GOOD if status.health == "ok" else Style.WARN)
    up = duration(max(0, now_ms - status.started_ms) // 1000)
    yield f"latchd {printable(status.latchd)}, pid {status.pid}, up {up}: {health}"
    for note in status.notes:
        yield f"  {paint('!', Style.WARN)} {printable(note)}"
    yield from table(
        [
            ("profile", f"{printable(status.profile)} (policy {printable(status.policy)})"),
            *([("rules", printable(status.rules))] if status.rules else []),
            ("sockets", printable(places.runtime)),
            ("state", printable(places.state)),
            ("config", printable(places.config_file)),
            *(
                (printable(name.replace("_", " ")), str(count))
                for name, count in sorted(status.counters.items())
            ),
        ],
        indent="  ",
    )


def duration(seconds: int) -> str:
    """The two largest units of a time span: `2 d 3 h`, `5 min 12 s`, `9 s`."""
    spans = [(86400, "d"), (3600, "h"), (60, "min"), (1, "s")]
    largest = next((at for at, (size, _) in enumerate(spans) if seconds >= size), len(spans) - 1)
    words: list[str] = []
    for size, name in spans[largest : largest + 2]:
        words.append(f"{seconds // size} {name}")
        seconds %= size
    return " ".join(words)
