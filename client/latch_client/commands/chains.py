"""`latchctl chains`: the fixed catalogue of ordered chains."""

from __future__ import annotations

import argparse

from latch_client.errors import DONE
from latch_client.output import print_json, table, with_json
from latch_client.subparsers import Subparsers


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "chains",
        help="list the ordered chains latchd watches for",
        description="The ordered chains that latchd watches for: two steps, a window, and if a completed "
        "one refuses the call or is only told. Which a session has begun is in `latchctl sessions`.",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    from latchd.chains.catalogue import CHAINS

    rows = [("CHAIN", "EVENTS", "MINUTES", "WHEN COMPLETE", "WHAT")]
    for chain in CHAINS:
        effect = "dormant" if chain.dormant else "refuses" if chain.blocks else "tells"
        minutes = chain.window_ms // 60_000
        if arguments.json:
            print_json(
                {
                    "chain": chain.id,
                    "title": chain.title,
                    "first": (chain.first.name or "").lower(),
                    "second": (chain.second.name or "").lower(),
                    "events": chain.events,
                    "minutes": minutes,
                    "when_complete": effect,
                }
            )
        else:
            rows.append((chain.id, str(chain.events), str(minutes), effect, chain.title))
    if not arguments.json:
        print("\n".join(table(rows)))
    return DONE
