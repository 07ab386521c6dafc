"""`latchctl up`: start the daemon in the background and return once its sockets answer."""

from __future__ import annotations

import argparse
import subprocess

from latch_client import locate, running
from latch_client.errors import DONE, CommandError
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
        systemctl("start", "latchd.service")
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


def systemctl(verb: str, *units: str) -> None:
    """Run `systemctl --user`. Raises CommandError with its own last line."""
    try:
        done = subprocess.run(
            ["systemctl", "--user", verb, *units],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError as error:
        raise CommandError("there is no `systemctl` here; run `latchctl up` without --systemd") from error
    if done.returncode != 0:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise CommandError(f"`systemctl --user {verb} {' '.join(units)}` failed: {said[-1]}")
