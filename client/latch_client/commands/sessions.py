"""`latchctl sessions`: the latest sessions, or one of them: its calls and how far each chain has come."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, Final

from latch_client import locate
from latch_client.commands.history import count
from latch_client.errors import DONE, CommandError
from latch_client.link import ask
from latch_client.output import print_json, table, with_json
from latch_client.paint import printable
from latch_client.render_records import when
from latch_client.subparsers import Subparsers
from latch_contracts.wire import VERSION, SessionList, Sessions, SessionView, ShowSession

_SHOWN: Final = 200  # characters of what was asked for


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "sessions",
        help="list the latest sessions",
        description="The latest sessions with their counts and the chains they have begun, newest first. A "
        "session is named by its key, as in records. `latchctl sessions show ID` tells all of one.",
    )
    parser.add_argument("-n", type=count, default=20, metavar="N", help="how many (default 20)")
    with_json(parser)
    parser.set_defaults(func=run)
    verbs = parser.add_subparsers(dest="verb", metavar="show")
    show = verbs.add_parser(
        "show",
        help="show one session: its calls, its steps, its chains",
        description="One session: its newest calls and where each stands, how far each chain has come, and "
        "how many files hold what it took from a secret.",
    )
    show.add_argument("session", metavar="ID", help="its id as the agent gave it, or how its key begins")
    show.add_argument("-n", type=count, default=20, metavar="N", help="how many calls (default 20)")
    with_json(show)
    show.set_defaults(func=run_show)


def run(arguments: argparse.Namespace) -> int:
    sessions = ask(locate.places().events_socket, Sessions(VERSION, arguments.n), SessionList).sessions
    if arguments.json:
        for session in sessions:
            print_json(session)
    else:
        print("\n".join(lines(sessions)))
    return DONE


def run_show(arguments: argparse.Namespace) -> int:
    name: str = arguments.session
    view = ask(locate.places().events_socket, ShowSession(VERSION, name, arguments.n), SessionView)
    if view.matches == 0:
        raise CommandError(f"no session is known as `{name[:_SHOWN]}`")
    if view.matches > 1:
        raise CommandError(f"several sessions begin with `{name[:_SHOWN]}`; give more of the key")
    if arguments.json:
        print_json(
            {
                "session": view.session,
                "calls": view.calls,
                "chains": view.chains,
                "secret_files": view.secret_files,
            }
        )
    else:
        print("\n".join(session_lines(view)))
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


def session_lines(view: SessionView, zone: tzinfo | None = None) -> Iterator[str]:
    """The human form of one session: what it is, its chains, its calls."""
    session = view.session
    yield from table(
        [
            ("session", printable(str(session.get("session_key", "")))),
            ("agent", printable(str(session.get("connector", "")))),
            ("first seen", when(int(session.get("first_ms") or 0), zone, dated=True)),
            ("last seen", when(int(session.get("last_ms") or 0), zone, dated=True)),
            ("calls", _counts(session)),
            ("secret files", str(view.secret_files)),
        ]
    )
    yield "chains" if view.chains else "no chain begun"
    yield from table([_chain(chain) for chain in view.chains], indent="  ")
    yield "calls" if view.calls else "no calls: they are pruned, or none was to be followed"
    yield from table([_call(call) for call in view.calls], indent="  ")


def _row(session: Mapping[str, Any], zone: tzinfo | None) -> tuple[str, str, str, str, str]:
    return (
        printable(str(session.get("session_key", ""))),
        printable(str(session.get("connector", ""))),
        when(int(session.get("last_ms") or 0), zone, dated=True),
        _counts(session),
        printable(
            ", ".join(str(chain).removeprefix("chain.") for chain in session.get("chains") or ()) or "none"
        ),
    )


def _counts(session: Mapping[str, Any]) -> str:
    counts: Mapping[str, Any] = session.get("counts") or {}
    return printable(", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none")


def _chain(chain: Mapping[str, Any]) -> tuple[str, ...]:
    minutes = int(chain.get("window_ms") or 0) // 60_000
    return (
        printable(str(chain.get("chain", ""))),
        f"step {chain.get('step')}",
        _age(chain.get("age_ms")),
        f"of {minutes}m",
        "exact" if chain.get("exact") else "seen",
        f"{chain.get('events_left')} events left",
    )


def _call(call: Mapping[str, Any]) -> tuple[str, ...]:
    standing = str(call.get("state", "unknown"))
    if call.get("step") is not None:
        standing += f", step {call['step']}"
    verdict = " ".join(str(call[name]) for name in ("action", "rule") if call.get(name))
    return (
        f"record {call.get('opened_seq')}",
        _age(call.get("age_ms")),
        printable(standing),
        printable(verdict),
        printable(", ".join(map(str, call.get("operations") or ()))),
    )


def _age(age_ms: object) -> str:
    """How long ago, in its largest unit; a clock that was set gives no answer."""
    if not isinstance(age_ms, int):
        return "age unknown"
    seconds = age_ms // 1000
    for unit, length in (("d", 86_400), ("h", 3600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit} ago"
    return f"{seconds}s ago"
