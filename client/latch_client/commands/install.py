"""`latchctl install`: hook an agent up, place the systemd units, or both.

The change is shown as a diff before it is made, and a copy of the file is kept beside it.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Final

from latch_client import running
from latch_client.errors import DONE, UsageError
from latch_client.install import claudecode, config, ledger, systemd
from latch_client.install.hook_line import hook_line
from latch_client.locate import places
from latch_client.output import print_json, with_json
from latch_client.subparsers import Subparsers
from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Compatibility

INSTALLERS: Final = frozenset({claudecode.CONNECTOR})


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "install",
        help="hook an agent up",
        description="Write the hooks into an agent's settings, place the systemd units, or both. The change "
        "is shown, and a copy of the file before it is kept beside it.",
    )
    parser.add_argument(
        "connector", nargs="?", default="", metavar="CONNECTOR", help="see `latchctl connectors`"
    )
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="whose settings (default: user)"
    )
    parser.add_argument("--settings", type=named, metavar="FILE", help="this settings file instead")
    parser.add_argument("--dry-run", action="store_true", help="show the change and make none")
    parser.add_argument(
        "--fail-open", action="store_true", help="let calls through unjudged when the daemon can't be asked"
    )
    parser.add_argument(
        "--autostart", action="store_true", help="let the hook start a daemon that is not running"
    )
    parser.add_argument("--systemd", action="store_true", help="place the systemd user units")
    parser.add_argument("--now", action="store_true", help="with --systemd: enable and start them too")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    if not arguments.connector and not arguments.systemd:
        raise UsageError("name a CONNECTOR, or give --systemd; see `latchctl connectors`")
    if arguments.now and not arguments.systemd:
        raise UsageError("--now goes with --systemd")
    if arguments.connector:
        check_connector(arguments.connector)
        _hooks(arguments)
    if arguments.systemd:
        _units(arguments)
    return DONE


def named(path: str) -> str:
    """A file's name; for argparse. An empty one is an unset variable, and would mean another file."""
    if not path:
        raise argparse.ArgumentTypeError("the name is empty")
    return path


def check_connector(name: str) -> None:
    if name not in CONNECTORS:
        raise UsageError(f"there is no connector `{name}`; see `latchctl connectors`")
    if name not in INSTALLERS:
        raise UsageError(f"`{name}` has no installer; its hooks have to be written by hand")


def _hooks(arguments: argparse.Namespace) -> None:
    here = places()
    fail_open = arguments.fail_open or config.fails_open(here, arguments.connector)
    line = hook_line(arguments.connector, fail_open=fail_open, autostart=arguments.autostart)
    version = claudecode.agent_version()
    settings = claudecode.settings_path(arguments.scope, arguments.settings or "")
    recorded = ledger.find(here, arguments.connector, settings)
    plan = claudecode.plan_install(settings, line, version, recorded)
    backup: Path | None = None
    if not arguments.dry_run:
        scope = "file" if arguments.settings else arguments.scope
        backup = claudecode.install(plan, here, line, version, scope)
    if arguments.json:
        print_json(
            {
                "connector": arguments.connector,
                "settings": str(settings),
                "line": line,
                "agent_version": version,
                "changed": plan.changes,
                "done": not arguments.dry_run,
                "backup": None if backup is None else str(backup),
                "diff": plan.diff(),
            }
        )
        return
    print(plan.diff(), end="")
    if not plan.changes:
        print(f"{settings} has the hooks already")
    elif arguments.dry_run:
        print(f"{settings} would be changed; nothing was")
    else:
        print(f"{settings} has the hooks now" + (f"; the file before: {backup}" if backup else ""))
    if not (arguments.dry_run or arguments.autostart or fail_open) and running.holder(here) is None:
        print("latchd is not running, and until it is the agent is refused every call: `latchctl up`")
    print("agent: " + _about(arguments.connector, version))
    if fail_open:
        print("when the daemon can't be asked, calls go through unjudged (--fail-open)")


def _about(connector: str, version: str) -> str:
    if not version:
        return "`claude` is not on PATH or tells no version, so the newest is assumed"
    if CONNECTORS[connector].contract.compatibility(version) is Compatibility.UNKNOWN:
        return f"{version}, outside the reviewed versions: calls are judged, nothing is learned from results"
    return version


def _units(arguments: argparse.Namespace) -> None:
    units = systemd.plan(systemd.daemon_command())
    backups = [] if arguments.dry_run else systemd.place(units)
    if arguments.now and not arguments.dry_run:
        systemd.start()
    commands = [" ".join(command) for command in systemd.COMMANDS]
    if arguments.json:
        print_json(
            {
                "units": [str(unit.path) for unit in units],
                "changed": [str(unit.path) for unit in units if unit.changes],
                "done": not arguments.dry_run,
                "backups": list(map(str, backups)),
                "commands": commands,
                "started": arguments.now and not arguments.dry_run,
            }
        )
        return
    for unit in units:
        print(unit.diff(), end="")
    if not any(unit.changes for unit in units):
        print(f"{systemd.directory()} has the units already")
    if arguments.now and not arguments.dry_run:
        print("the units are enabled and started")
    else:
        print("to start them:")
        for command in commands:
            print(f"  {command}")
