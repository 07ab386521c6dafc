"""`latchctl tail`: records as they are made, one line each, until Ctrl-C."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator

from latch_client import locate
from latch_client.codes import with_codes
from latch_client.commands.history import count, watch, with_filters
from latch_client.errors import DONE
from latch_client.link import LinkClosed, followed, stored
from latch_client.output import print_json, with_json
from latch_client.paint import wanted
from latch_client.render_records import line
from latch_client.subparsers import Subparsers
from latch_contracts.records import Record


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "tail",
        help="show records as they are made",
        description="The newest records, then every new one as it is made. Ends with exit code 0 on Ctrl-C, "
        "with 1 when the daemon goes away.",
    )
    start = parser.add_mutually_exclusive_group()
    start.add_argument("--since", type=count, metavar="SEQ", help="begin after this sequence, without a gap")
    start.add_argument("-n", type=count, default=10, metavar="N", help="begin with the newest N (default 10)")
    parser.add_argument("--no-follow", action="store_true", help="end at the newest record")
    with_filters(parser)
    with_codes(parser)
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    colour = wanted(sys.stdout)
    seq = 0
    try:
        for record in _records(arguments):
            seq = max(seq, record.seq)
            if arguments.json:
                print_json(record)
            else:
                print(line(record, colour=colour), flush=True)
    except LinkClosed as error:
        raise _gone(seq) from error
    except KeyboardInterrupt:
        return DONE
    if arguments.no_follow:
        return DONE
    raise _gone(seq)


def _gone(seq: int) -> LinkClosed:
    return LinkClosed(f"the daemon went away; go on after `latchctl up` with `latchctl tail --since {seq}`")


def _records(arguments: argparse.Namespace) -> Iterator[Record]:
    path = locate.places().events_socket
    cursor: int | None = arguments.since
    if cursor is None and arguments.n == 0:
        cursor = -1  # only new ones
    elif cursor is None:
        newest, cursor = stored(path, watch(arguments, cursor=0, follow=False, limit=arguments.n))
        yield from newest
        if arguments.no_follow:
            return
    if arguments.no_follow:
        yield from stored(path, watch(arguments, cursor=cursor, follow=False))[0]
    else:
        yield from followed(path, watch(arguments, cursor=cursor, follow=True))
