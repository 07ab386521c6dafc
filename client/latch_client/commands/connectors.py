"""`latchctl connectors`: the agents that latchd knows, and where their hooks are installed."""

from __future__ import annotations

import argparse

from latch_client.errors import DONE
from latch_client.install import ledger
from latch_client.locate import places
from latch_client.output import print_json, table, with_json
from latch_client.subparsers import Subparsers
from latch_contracts.connectors import CONNECTORS
from latch_contracts.contract import Contract


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "connectors",
        help="list the agents latchd knows",
        description="The agents that latchd knows, and where their hooks are installed.",
    )
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    here = places()
    rows = [("CONNECTOR", "VERSIONS", "LEVEL", "EVENTS", "INSTALLED IN")]
    for name, connector in CONNECTORS.items():
        contract = connector.contract
        files = [one.settings for one in ledger.installed(here, name)]
        if arguments.json:
            print_json(
                {
                    "connector": name,
                    "contract": contract.contract_id,
                    "revision": contract.revision,
                    "versions": _versions(contract),
                    "level": contract.level,
                    "events": [event.name for event in contract.events],
                    "refusable": [event.name for event in contract.events if event.blockable],
                    "native_ask": contract.native_ask,
                    "installed": files,
                }
            )
        else:
            events = str(len(contract.events))
            rows.append((name, _versions(contract), contract.level, events, ", ".join(files) or "-"))
    if not arguments.json:
        print("\n".join(table(rows)))
    return DONE


def _versions(contract: Contract) -> str:
    low = f">={'.'.join(map(str, contract.versions.minimum))}"
    below = contract.versions.below
    return low if below is None else f"{low},<{'.'.join(map(str, below))}"
