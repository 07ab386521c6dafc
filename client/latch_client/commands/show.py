"""`latchctl show`: one call joined: its proposal, the verdict, the result, and where it stands."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from datetime import tzinfo
from typing import Any, Final

from latch_client import codes, locate
from latch_client.codes import with_codes
from latch_client.errors import DONE, CommandError
from latch_client.link import ask
from latch_client.output import print_json, table, with_json
from latch_client.paint import Paint, Style, printable, wanted
from latch_client.render_records import line, when
from latch_client.subparsers import Subparsers
from latch_contracts.wire import VERSION, CallView, Show

_SHOWN: Final = 512  # characters; real ids have some thirty


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "show",
        help="show all that is known of one call",
        description="Where a call stands and every record that names it, over all sessions.",
    )
    parser.add_argument("call_id", metavar="CALL-ID", help="the call id, as the agent gave it")
    with_codes(parser)
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    view = ask(
        locate.places().events_socket, Show(VERSION, arguments.call_id, codes.wanted(arguments)), CallView
    )
    if not view.states and not view.records:
        raise CommandError(f"nothing is known of call `{arguments.call_id[:_SHOWN]}`")
    if arguments.json:
        print_json({"call_id": view.call_id, "states": view.states, "records": view.records})
    else:
        print("\n".join(lines(view, colour=wanted(sys.stdout))))
    return DONE


def lines(view: CallView, *, colour: bool = False, zone: tzinfo | None = None) -> Iterator[str]:
    """The human form: one block per row, then the records in order."""
    paint = Paint(coloured=colour)
    yield paint(f"call {printable(view.call_id)}", Style.STRONG)
    if not view.states:
        yield "  no row: what was judged was not to be followed, or its row is pruned"
    for state in view.states:
        yield from table(list(_row(state, zone)), indent="  ")
    yield "records" if view.records else "no records: they are pruned"
    for record in view.records:
        yield f"  {line(record, colour=colour, zone=zone, dated=True)}"


def _row(state: Mapping[str, Any], zone: tzinfo | None) -> Iterator[tuple[str, str]]:
    """What the state table holds of the call; it knows keys, not names."""
    yield "session", printable(str(state.get("session_key", "")))
    standing = str(state.get("state", "unknown"))
    if state.get("step") is not None:
        standing += f", step {state['step']}"
    yield "state", printable(standing)
    verdict = " ".join(str(state[name]) for name in ("action", "rule") if state.get(name))
    yield "verdict", printable(verdict)
    opened = f"{when(int(state.get('opened_ms') or 0), zone, dated=True)}, record {state.get('opened_seq')}"
    yield "opened", printable(opened)
    if state.get("closed_seq"):
        yield "closed", printable(f"record {state['closed_seq']}")
    if state.get("operations"):
        yield "operations", printable(", ".join(map(str, state["operations"])))
