"""The script lists of GitLab CI. What runs before a job's script runs in the same shell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_client.scan import yaml_text
from latch_client.scan.snippet import Snippet, joined
from latch_client.scan.yaml_text import Node, member, members

_TOGETHER: Final = ("before_script", "script")


def read(text: str) -> Iterator[Snippet]:
    """The scripts of every job, and those that stand at the top. Raises Unreadable."""
    root = yaml_text.document(text)
    for jobs in (root, member(root, "default")):
        for key in ("before_script", "after_script"):
            if parts := _parts(member(jobs, key)):
                yield joined(parts, stops=True)
    for name, job in members(root):
        if name == "default":
            continue
        own = [part for key in _TOGETHER for part in _parts(member(job, key))]
        if own:
            yield joined(own, stops=True)
        if after := _parts(member(job, "after_script")):
            yield joined(after, stops=True)


def _parts(node: Node | None) -> list[tuple[str, tuple[int, ...]]]:
    return [(yaml_text.text(item), yaml_text.lines(item)) for item in yaml_text.scalars(node)]
