"""`latchctl history`: the newest records, oldest of them first."""

from __future__ import annotations

import argparse
import sys

from latch_client import codes, locate
from latch_client.codes import with_codes
from latch_client.errors import DONE
from latch_client.link import stored
from latch_client.output import print_json, with_json
from latch_client.paint import wanted
from latch_client.render_records import KINDS, line
from latch_client.subparsers import Subparsers
from latch_contracts.verdict import Action
from latch_contracts.wire import VERSION, Watch


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "history",
        help="show the newest records",
        description="The newest stored records, in order, then end.",
    )
    parser.add_argument("-n", type=count, default=50, metavar="N", help="how many (default 50, 0 = all)")
    parser.add_argument(
        "--since", type=count, default=0, metavar="SEQ", help="only records after this sequence"
    )
    with_filters(parser)
    with_codes(parser)
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    records, _ = stored(
        locate.places().events_socket,
        watch(arguments, cursor=arguments.since, follow=False, limit=arguments.n),
    )
    colour = wanted(sys.stdout)
    for record in records:
        if arguments.json:
            print_json(record)
        else:
            print(line(record, colour=colour, dated=True))
    return DONE


def with_filters(parser: argparse.ArgumentParser) -> None:
    """The options that choose records; each may be given more than once."""
    kinds = ", ".join(KINDS)
    parser.add_argument(
        "--kind",
        action="append",
        choices=KINDS,
        default=[],
        metavar="KIND",
        help=f"only these kinds: {kinds}",
    )
    parser.add_argument(
        "--action",
        action="append",
        choices=[action.value for action in Action],
        default=[],
        metavar="ACTION",
        help="only verdicts of this action: allow, ask, deny",
    )
    parser.add_argument(
        "--connector",
        type=connector,
        action="append",
        default=[],
        metavar="NAME",
        help="only this agent's records",
    )


def watch(arguments: argparse.Namespace, *, cursor: int, follow: bool, limit: int = 0) -> Watch:
    """The request that the filters of the command line mean."""
    return Watch(
        VERSION,
        cursor=cursor,
        follow=follow,
        kinds=arguments.kind,
        connectors=arguments.connector,
        actions=arguments.action,
        limit=limit,
        codes=codes.wanted(arguments),
    )


def connector(text: str) -> str:
    """The name of an agent, for argparse: with a mistyped one a tail would be silent for ever."""
    from latch_contracts.connectors import CONNECTORS  # only whoever names one pays for it

    if text not in CONNECTORS:
        raise argparse.ArgumentTypeError(f"there is no connector `{text}`; known: {', '.join(CONNECTORS)}")
    return text


def count(text: str) -> int:
    """A number of records, or a sequence; for argparse."""
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise argparse.ArgumentTypeError(f"`{text}` is no number from 0 up")
    return int(text)
