"""The `run:` steps of GitHub workflows and composite actions that bash or sh runs.

Each step is a shell of its own. `${{ … }}` is put in before the shell reads the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from latch_client.scan import yaml_text
from latch_client.scan.shell import SHELLS
from latch_client.scan.snippet import Snippet, with_unknowns
from latch_client.scan.yaml_text import Node, items, member, members

_STOPS: Final = re.compile(r"\s-[a-z]*e")
_EXPRESSION: Final = re.compile(r"\$\{\{.*?\}\}", re.DOTALL)


def read(text: str) -> Iterator[Snippet]:
    """Every step's script. Raises Unreadable."""
    root = yaml_text.document(text)
    everywhere = _default(root, "shell")
    below = _default(root, "working-directory")
    for _, job in members(member(root, "jobs")):
        windows = (
            "windows"
            in " ".join(yaml_text.text(node) for node in yaml_text.scalars(member(job, "runs-on"))).lower()
        )
        shell = _default(job, "shell") or everywhere or ("pwsh" if windows else "bash")
        yield from _steps(member(job, "steps"), shell, _default(job, "working-directory") or below)
    yield from _steps(member(root, "runs", "steps"), "bash", "")


def _default(node: Node | None, name: str) -> str:
    return yaml_text.text(member(node, "defaults", "run", name))


def _steps(steps: Node | None, shell: str, directory: str) -> Iterator[Snippet]:
    for step in items(steps):
        script = member(step, "run")
        line = yaml_text.text(member(step, "shell")) or shell
        program = line.split(" ")[0].rpartition("/")[2]
        if script is None or program not in SHELLS or not yaml_text.text(script).strip():
            continue
        text = yaml_text.text(script)
        spans = [found.span() for found in _EXPRESSION.finditer(text)]
        where = yaml_text.text(member(step, "working-directory")) or directory
        yield Snippet(
            with_unknowns(text, spans),
            yaml_text.lines(script),
            "" if "${{" in where else where,
            # without a template of its own, GitHub starts bash and sh with -e
            stops="{0}" not in line or bool(_STOPS.search(line)),
        )
