"""`latchctl sessions`: the latest sessions, and how many of their calls stand where."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from datetime import tzinfo
from typing import Any

from latch_client import locate
from latch_client.commands.history import count
from latch_client.errors import DONE
from latch_client.link import ask
from latch_client.output import print_json, table, with_json
from latch_client.paint import printable
from latch_client.render_records import when
from latch_client.subparsers import Subparsers
from latch_contracts.wire import VERSION, SessionList, Sessions


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "sessions",
        help="list the latest sessions",
        description="The latest sessions with their counts and the chains they have begun, newest first. A "
        "session is named by its key, as in records.",
    )
    parser.add_argument("-n", type=count, default=20, metavar="N", help="how many (default 20)")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    sessions = ask(locate.places().events_socket, Sessions(VERSION, arguments.n), SessionList).sessions
    if arguments.json:
        for session in sessions:
            print_json(session)
    else:
        print("\n".join(lines(sessions)))
    return DONE


def lines(sessions: Sequence[Mapping[str, Any]], zone: tzinfo | None = None) -> list[str]:
    """The human form: a table, or one line that says there is nothing."""
    if not sessions:
        return ["no session yet"]
    rows = [
        ("SESSION", "AGENT", "LAST SEEN", "CALLS", "CHAINS BEGUN"),
        *(_row(session, zone) for session in sessions),
    ]
    return table(rows)


def _row(session: Mapping[str, Any], zone: tzinfo | None) -> tuple[str, str, str, str, str]:
    counts: Mapping[str, Any] = session.get("counts") or {}
    return (
        printable(str(session.get("session_key", ""))),
        printable(str(session.get("connector", ""))),
        when(int(session.get("last_ms") or 0), zone, dated=True),
        printable(", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"),
        printable(
            ", ".join(str(chain).removeprefix("chain.") for chain in session.get("chains") or ()) or "none"
        ),
    )
