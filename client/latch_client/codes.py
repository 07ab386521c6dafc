"""Who is shown the codes that lift refusals: a person at a terminal, or whoever asks for them by name.

A model's shell has no terminal, and what it runs is denied when it asks by name.
"""

from __future__ import annotations

import argparse
import sys


def with_codes(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--codes",
        action="store_true",
        help="show the codes for `latchctl allow` where stdout is no terminal, too",
    )


def wanted(arguments: argparse.Namespace) -> bool:
    return bool(arguments.codes) or sys.stdout.isatty()
