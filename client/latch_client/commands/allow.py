"""`latchctl allow`: let one refused call pass, once, and leave a record that a person wanted it."""

from __future__ import annotations

import argparse
import sys
from datetime import tzinfo
from typing import Final

from latch_client import hook_token, locate
from latch_client.errors import DONE
from latch_client.link import ask
from latch_client.output import complain, print_json, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.render_records import when
from latch_client.subparsers import Subparsers
from latch_contracts.records import AllowanceRecord
from latch_contracts.wire import VERSION, Allow, Allowed

WORTHLESS: Final = 3  # the daemon was asked, and the code lets nothing pass


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "allow",
        help="let one refused call pass once",
        description="Let the refused call of this code pass once, when the agent tries the same thing again "
        "within ten minutes. Codes are in `latchctl tail`, `history` and `show` on a terminal, and where the "
        "agent shows you one; they work for fifteen minutes. Exit code 3 when the code lets nothing pass.",
    )
    parser.add_argument("code", metavar="CODE", help="the code of the refusal, such as K7QM-2XRD")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    places = locate.places()
    request = Allow(VERSION, arguments.code, hook_token.content(places.token))
    allowed = ask(places.hook_socket, request, Allowed)
    if arguments.json:
        print_json({"allowed": allowed.record is not None, "why": allowed.why, "record": allowed.record})
    elif allowed.record is not None:
        print(line(allowed.record, colour=wanted(sys.stdout)))
    if allowed.record is not None:
        return DONE
    if not arguments.json:
        complain(allowed.why)
    return WORTHLESS


def line(record: AllowanceRecord, *, colour: bool = False, zone: tzinfo | None = None) -> str:
    """What the agent may do now, and until when."""
    paint = Paint(coloured=colour)
    what = "  ".join(
        part
        for part in (
            printable(record.tool or record.event or "the call"),
            paint(printable(record.head), Style.STRONG),
            printable(f"[{record.rule}]"),
        )
        if part
    )
    return f"allowed once, until {when(record.until_ms, zone)}: {what}"
