"""The one argparse type that has no public name: what a command's ``add`` adds itself to."""

from __future__ import annotations

import argparse
from typing import Protocol


class Subparsers(Protocol):
    def add_parser(self, name: str, *, help: str, description: str) -> argparse.ArgumentParser: ...  # noqa: A002
