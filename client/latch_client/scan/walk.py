"""The files below a path, in one order on every machine: by name, directories after files.

No link is followed, and what version control or a package manager put there is left out.
"""

from __future__ import annotations

import fnmatch
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

_LEFT_OUT: Final = frozenset(
    ".git .hg .svn .jj node_modules bower_components .venv venv .tox .nox .mypy_cache .ruff_cache "
    ".pytest_cache __pycache__ .terraform .gradle .idea .vscode .cache vendor third_party dist "
    "site-packages".split()
)


def files(root: str, exclude: Sequence[str]) -> Iterator[str]:
    """Regular files below a directory, as paths that begin with ``root``. ``exclude`` are globs."""
    try:
        entries = sorted(os.scandir(root), key=lambda entry: entry.name)
    except OSError:
        return
    below: list[str] = []
    for entry in entries:
        path = entry.path.removeprefix("./")
        if excluded(path, exclude) or entry.is_symlink():
            continue
        if entry.is_dir():
            if entry.name not in _LEFT_OUT:
                below.append(entry.path)
        elif entry.is_file():
            yield path
    for directory in below:
        yield from files(directory, exclude)


def excluded(path: str, exclude: Sequence[str]) -> bool:
    """Whether one of the globs takes the path, a directory above it, or its name."""
    parts = path.split("/")
    tails = ["/".join(parts[: count + 1]) for count in range(len(parts))]
    return any(fnmatch.fnmatch(text, glob) for glob in exclude for text in (*tails, parts[-1]))


def repository(path: Path) -> Path | None:
    """The nearest directory at or above a path that holds `.git`; None without one."""
    for directory in (path, *path.parents):
        if (directory / ".git").exists():
            return directory
    return None
