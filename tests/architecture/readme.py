"""The README's blocks that the program itself prints; `make readme` writes them anew.

A test compares them, so that the README can't show what latchd no longer says.
"""

from __future__ import annotations

import contextlib
import io
import re
import textwrap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

from latch_client import cli, private
from latch_client.commands import demo

README: Final = Path(__file__).resolve().parents[2] / "README.md"
COMMAND: Final = "cd build && rm -rf ~"


def refused() -> str:
    """The scene of the demo in which the agent wants the home directory gone."""
    with private.daemon() as daemon:
        shown = _printed(lambda: demo.play(daemon)).replace(str(daemon.home), "/home/you")
    scene = next(part for part in shown.split("\n\n") if COMMAND in part)
    return re.sub(r"\d\d:\d\d:\d\d", "12:30:01", textwrap.dedent(scene.partition("\n")[2])).rstrip()


def explained() -> str:
    return _printed(lambda: cli.main(["explain", COMMAND])).rstrip()


BLOCKS: Final[Mapping[str, Callable[[], str]]] = {"refused": refused, "explain": explained}


def renewed(text: str) -> str:
    """The README with every block as the program prints it now."""
    for name, block in BLOCKS.items():
        begin, end = f"<!-- {name}:begin -->", f"<!-- {name}:end -->"
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n```text\n{block()}\n```\n{end}{rest.partition(end)[2]}"
    return text


def _printed(run: Callable[[], object]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        run()
    return printed.getvalue()


if __name__ == "__main__":
    README.write_text(renewed(README.read_text("utf-8")), encoding="utf-8")
