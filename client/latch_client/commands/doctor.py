"""`latchctl doctor`: look at the whole set-up and say what to repair. Exit 1 when something failed."""

from __future__ import annotations

import argparse

from latch_client.errors import DONE, FAILED
from latch_client.install.doctor import examine
from latch_client.install.scene import Grade, gather
from latch_client.locate import places
from latch_client.output import print_json, with_json
from latch_client.paint import printable
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "doctor",
        help="check the whole set-up and say what to repair",
        description="Look at the whole set-up (directories, daemon, hooks in the agents' settings) and say "
        "what to repair. Exit code 1 when something failed.",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    checks = examine(gather(places()))
    for check in checks:
        if arguments.json:
            print_json(check)
            continue
        print(f"{check.grade:<4}  {check.name}: {printable(check.found)}")
        if check.way_out:
            print(f"      -> {printable(check.way_out)}")
    return FAILED if any(check.grade is Grade.FAIL for check in checks) else DONE
