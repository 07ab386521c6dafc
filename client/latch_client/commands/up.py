"""`latchctl up`: start the daemon in the background and return once its sockets answer."""

from __future__ import annotations

import argparse

from latch_client import locate, running
from latch_client.errors import DONE
from latch_client.install import systemd
from latch_client.output import print_json, with_json
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "up",
        help="start the daemon",
        description="Start the daemon in the background; returns once it answers. Does nothing when it runs.",
    )
    parser.add_argument(
        "--systemd",
        action="store_true",
        help="start the user unit latchd.service instead of a process of our own",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    places = locate.places()
    if arguments.systemd:
        before = running.holder(places)
        systemd.run(systemd.START)
        pid, started = running.holder(places) or 0, before is None
    else:
        pid, started = running.start(places)
    named = f", pid {pid}" if pid else ""  # a daemon that is just starting has not written it yet
    if arguments.json:
        print_json({"pid": pid or None, "started": started})
    elif started:
        print(f"latchd is running{named}")
    else:
        print(f"latchd is already running{named}")
    return DONE
