"""`latchctl uninstall`: take the hooks out again; every other byte of the settings stays.

A file that holds nothing but what the installer put there becomes, to the byte, what it was before.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from latch_client.commands.install import check_connector, named
from latch_client.errors import DONE, UsageError
from latch_client.install import claudecode, ledger, systemd
from latch_client.locate import places
from latch_client.output import print_json, with_json
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "uninstall",
        help="take the hooks out again",
        description="Take the hooks out of every settings file they were installed in, or of the one named; "
        "every other byte stays.",
    )
    parser.add_argument(
        "connector", nargs="?", default="", metavar="CONNECTOR", help="see `latchctl connectors`"
    )
    parser.add_argument("--scope", choices=("user", "project"), default="", help="only these settings")
    parser.add_argument("--settings", type=named, metavar="FILE", help="only this settings file")
    parser.add_argument("--dry-run", action="store_true", help="show the change and make none")
    parser.add_argument("--systemd", action="store_true", help="remove the systemd user units")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.connector and not arguments.systemd:
        raise UsageError("name a CONNECTOR, or give --systemd; see `latchctl connectors`")
    if arguments.connector:
        check_connector(arguments.connector)
        for settings in _targets(arguments):
            _take_out(settings, arguments)
    if arguments.systemd:
        _units(arguments)
    return DONE


def _targets(arguments: argparse.Namespace) -> list[Path]:
    """The settings files that are meant: the named one, else all that are recorded, else the user's."""
    if arguments.settings or arguments.scope:
        return [claudecode.settings_path(arguments.scope, arguments.settings or "")]
    recorded = [Path(one.settings) for one in ledger.installed(places(), arguments.connector)]
    return recorded or [claudecode.settings_path("user")]


def _take_out(settings: Path, arguments: argparse.Namespace) -> None:
    here = places()
    plan = claudecode.plan_uninstall(settings, ledger.find(here, arguments.connector, settings))
    if not arguments.dry_run:
        claudecode.uninstall(plan, here)
    if arguments.json:
        print_json(
            {
                "connector": arguments.connector,
                "settings": str(settings),
                "changed": plan.changes,
                "done": not arguments.dry_run,
                "diff": plan.diff(),
            }
        )
        return
    print(plan.diff(), end="")
    if not plan.changes:
        print(f"{settings} has no hooks of latchd")
    elif arguments.dry_run:
        print(f"{settings} would be changed; nothing was")
    else:
        print(f"{settings} is free of the hooks")


def _units(arguments: argparse.Namespace) -> None:
    gone = systemd.placed()
    if not arguments.dry_run:
        systemd.remove(gone)
    if arguments.json:
        print_json({"units": list(map(str, gone)), "done": not arguments.dry_run})
        return
    for path in gone:
        print(f"{path} {'would be' if arguments.dry_run else 'is'} removed")
    if gone:
        print("to stop what still runs:")
        for command in systemd.STOP_COMMANDS:
            print(f"  {' '.join(command)}")
    else:
        print(f"{systemd.directory()} has no units of latchd")
