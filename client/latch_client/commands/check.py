"""`latchctl check`: the verdict on commands or payloads, offline: no daemon, no state, no disk."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from latch_client import batch, offline
from latch_client.errors import DONE, CommandError
from latch_client.output import print_json, with_json
from latch_client.paint import Paint, wanted
from latch_client.render_records import MARKS, why
from latch_client.subparsers import Subparsers
from latch_contracts.connectors import CONNECTORS
from latch_contracts.verdict import Action

EXIT_CODES: Final[Mapping[Action, int]] = MappingProxyType(
    {Action.ALLOW: DONE, Action.ASK: 3, Action.DENY: 4}
)


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "check",
        help="judge commands offline",
        description="Judge a command without the daemon: exit code 0 allow, 3 ask, 4 deny. With --jsonl "
        'a line {"id", "command"} or {"id", "event"} is answered by a line with its verdict; exit code 0.',
    )
    offline.with_command(parser, batch=True)
    offline.with_policy(parser)
    parser.add_argument(
        "--connector",
        choices=sorted(CONNECTORS),
        default="claudecode",
        metavar="NAME",
        help="whose payloads the lines with `event` hold (default claudecode)",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    source = offline.chosen(arguments)
    policy = offline.policy_of(arguments)
    rules = offline.rules_of(arguments, policy)
    given = offline.given(arguments)

    from latchd.offline import check_line

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        return check_line(given | row, policy, arguments.connector, rules)

    if source is not None:
        batch.run(source, answer)
        return DONE
    answered = answer({"id": None, "command": arguments.shell_command})
    if "error" in answered:
        raise CommandError(answered["error"])
    if arguments.json:
        print_json(answered)
    else:
        print(line(answered, Paint(coloured=wanted(sys.stdout))))
    return EXIT_CODES[Action(answered["verdict"])]


def line(answered: Mapping[str, Any], paint: Paint) -> str:
    """The verdict for a person: `✗ deny  [rule] in …`."""
    action = Action(answered["verdict"])
    mark, style = MARKS[action]
    because = why(answered["rule"], answered["reason"]) if answered["rule"] else ""
    return f"{paint(f'{mark} {action.value}', style)}  {because}".rstrip()
