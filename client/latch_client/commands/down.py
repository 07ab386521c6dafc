"""`latchctl down`: stop the daemon and return once its lock is free."""

from __future__ import annotations

import argparse

from latch_client import locate, running
from latch_client.errors import DONE
from latch_client.install import systemd
from latch_client.output import print_json, with_json
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "down",
        help="stop the daemon",
        description="Stop the daemon; returns once it is gone. Hooked agents are refused every call "
        "until `latchctl up`.",
    )
    parser.add_argument("--systemd", action="store_true", help="stop the user units, sockets included")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    places = locate.places()
    if arguments.systemd:
        pid = running.holder(places)
        systemd.run(systemd.STOP)
    else:
        pid = running.stop(places)
    if arguments.json:
        print_json({"pid": pid, "stopped": pid is not None})
    elif pid is None:
        print("latchd was not running")
    else:
        print(f"latchd stopped, pid {pid}")
    return DONE
