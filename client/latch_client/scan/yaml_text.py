"""YAML read with the line of every scalar; a document that is none is said to be so.

Nothing is built from tags, and an alias is not expanded: it stands where its anchor stood.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import yaml

from latch_client.scan.snippet import Unreadable

Node = yaml.Node
_DEPTH: Final = 40


def document(text: str) -> Node | None:
    """The first document. Raises Unreadable."""
    try:
        return yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f" at line {mark.line + 1}" if mark is not None else ""
        problem = getattr(error, "problem", None) or "it can't be parsed"
        raise Unreadable(f"is no YAML{where}: {problem}") from None
    except (RecursionError, ValueError):
        raise Unreadable("is no YAML that can be read") from None


def members(node: Node | None) -> Iterator[tuple[str, Node]]:
    """Keys and values of a mapping, in order; nothing for any other node."""
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                yield str(key.value), value


def member(node: Node | None, *path: str) -> Node | None:
    """The node under these keys, one below the other."""
    for name in path:
        node = next((value for key, value in members(node) if key == name), None)
    return node


def items(node: Node | None) -> Iterator[Node]:
    if isinstance(node, yaml.SequenceNode):
        yield from node.value


def text(node: Node | None) -> str:
    """A scalar's text, "" for any other node."""
    return str(node.value) if isinstance(node, yaml.ScalarNode) else ""


def lines(node: Node) -> tuple[int, ...]:
    """The line of each line of a scalar. Only a literal block keeps its lines; others have their first."""
    first = node.start_mark.line + 1
    if isinstance(node, yaml.ScalarNode) and node.style == "|":
        return tuple(first + 1 + place for place in range(len(str(node.value).split("\n"))))
    return (first,)


def scalars(node: Node | None, depth: int = 0) -> Iterator[Node]:
    """A scalar, or all below a list, in order; nothing below what a tag makes something else of."""
    if isinstance(node, yaml.ScalarNode):
        yield node
    elif depth < _DEPTH and not (node is not None and node.tag.startswith("!")):  # `!reference [job, script]`
        for item in items(node):
            yield from scalars(item, depth + 1)
