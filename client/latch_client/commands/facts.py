"""`latchctl facts`: what commands would do, as far as it is proven, offline: no daemon, no disk."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from latch_client import batch, draw, offline
from latch_client.commands.explain import judged
from latch_client.errors import DONE
from latch_client.output import print_json, with_json
from latch_client.paint import Paint, wanted
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "facts",
        help="show the facts of commands offline",
        description="What a command would do, as far as it is proven; no daemon, nothing is run or read. "
        'With --jsonl a line {"id", "command"} is answered by a line of facts.',
    )
    offline.with_command(parser, batch=True)
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    source = offline.chosen(arguments)
    given = offline.given(arguments)

    from latchd.offline import facts_line

    def answer(row: dict[str, Any]) -> dict[str, Any]:
        return facts_line(given | row)

    if source is not None:
        batch.run(source, answer)
    elif arguments.json:
        print_json(answer({"id": None, "command": arguments.shell_command}))
    else:
        subject, _ = judged(arguments.shell_command, given, offline.parsed(b"", ""))
        print("\n".join(draw.facts_lines(subject.facts, Paint(coloured=wanted(sys.stdout)))))
    return DONE
