"""`latchctl bench`: what latchd costs on this machine, and how much of what people write it understands.

Wall times swing with the machine's load, so every figure stands beside one that was timed in turn with it.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from latch_client import private
from latch_client.benches import calls, facts
from latch_client.benches.crowd import Crowd
from latch_client.benches.times import Times
from latch_client.errors import DONE
from latch_client.output import print_json, with_json
from latch_client.subparsers import Subparsers

_PARTS = ("facts", "calls")


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "bench",
        help="measure what latchd costs on this machine",
        description="Count the commands whose facts are complete and time their analysis; then measure a "
        "whole hook call and a decision against a private daemon, each beside a floor that is timed in turn.",
    )
    parser.add_argument("--runs", type=int, default=30, metavar="N", help="whole-hook runs (default 30)")
    parser.add_argument("--decisions", type=int, default=1000, metavar="N", help="decisions (default 1000)")
    parser.add_argument(
        "--corpus",
        type=Path,
        metavar="FILE",
        help='JSONL with a "command" in each line (default: a set of our own)',
    )
    parser.add_argument("--only", choices=_PARTS, help="measure one part alone")
    with_json(parser)
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    figures: dict[str, Any] = {}
    if arguments.only != "calls":
        figures["facts"] = facts.measure(facts.commands(arguments.corpus))
        figures["hostile"] = facts.measure_hostile()
    if arguments.only != "facts":
        with private.daemon() as daemon:
            figures["calls"] = calls.measure(daemon, max(3, arguments.runs), max(10, arguments.decisions))
    if arguments.json:
        print_json(msgspec.to_builtins(figures))
        return DONE
    lines = [
        *(_facts(figures["facts"]) if "facts" in figures else ()),
        *(_hostile(figures["hostile"]) if "hostile" in figures else ()),
        *(_calls(figures["calls"]) if "calls" in figures else ()),
    ]
    print("\n".join(lines))
    return DONE


def _facts(figures: dict[str, Any]) -> Iterator[str]:
    count = figures["commands"]
    complete = figures["statuses"].get("complete", 0)
    share = f"{figures['complete_percent']:.2f} % complete"
    yield f"facts of {count} commands: {share}, {count - complete} are not"
    for issue, number in figures["issues"].items():
        yield f"  {issue:34}{number:9}{100 * number / count:9.2f} %"
    yield ""
    yield from _table(("analyse one", figures["analyse_ms"]), ("parse it only", figures["parse_ms"]))
    yield ""


def _hostile(figures: Sequence[dict[str, Any]]) -> Iterator[str]:
    yield f"{'texts of 64 KiB made to be slow':36}{'ms':>9}{'MiB':>9}"
    for one in figures:
        yield f"  {one['kind']:34}{one['ms']:9.1f}{one['mib']:9.1f}  {one['status']}"
    yield f"  {'the dearest (bars 60 and 64)':34}" + "".join(
        f"{max(one[unit] for one in figures):9.1f}" for unit in ("ms", "mib")
    )
    yield ""


def _calls(figures: dict[str, Any]) -> Iterator[str]:
    yield from _table(
        ("interpreter alone (-I -S -c pass)", figures["interpreter_ms"]),
        ("whole hook, answer of the daemon", figures["hook_ms"]),
        ("decision with durable record", figures["decision_ms"]),
        ("the same, command of 4 KiB", figures["decision_4k_ms"]),
        ("floor: append 1 KiB and fsync", figures["append_and_fsync_ms"]),
    )
    yield ""
    yield (
        f"whole hook / interpreter: {figures['hook_ratio']:.2f} of medians, "
        f"{figures['hook_ratio_of_minima']:.2f} of minima (bar {figures['hook_bar']}), "
        f"{figures['runs']} runs in turn"
    )
    yield f"one client, one call after another: {figures['decisions_per_second']} decisions a second"
    crowd: Crowd = figures["crowd"]
    yield (
        f"{crowd.sessions} sessions, {crowd.at_once} calls at once: {crowd.decisions_per_second} decisions a "
        f"second, {crowd.of_one_core} of one core's time (bar {crowd.bar})"
    )


def _table(*rows: tuple[str, Times]) -> Iterator[str]:
    yield f"{'':36}{'min':>9}{'median':>9}{'mean':>9}{'p99':>9}  ms"
    for name, one in rows:
        yield f"{name:36}{one.minimum:9.2f}{one.median:9.2f}{one.mean:9.2f}{one.p99:9.2f}"
