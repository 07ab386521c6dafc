"""The rim that asks the disk about paths. Errors become values; no file is opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping

from latchd.files import FileView, Stamp


def view(path: str) -> FileView:
    """What the disk says of one absolute path. Never raises."""
    try:
        real = os.path.realpath(path)
        status = os.stat(path)  # noqa: PTH116 (a Path object per probe costs more than the probe)
    except FileNotFoundError:
        return FileView(path=path, real=_existing_part(path))
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        return FileView(path=path, real=path, fault=_why(error))
    is_dir = stat.S_ISDIR(status.st_mode)
    return FileView(
        path=path,
        exists=True,
        is_dir=is_dir,
        real=real,
        stamp=Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns),
        holds_git=is_dir and os.path.lexists(os.path.join(real, ".git")),  # noqa: PTH118
    )


def views(paths: Iterable[str]) -> Mapping[str, FileView]:
    """The view of each path, by the path as it was asked for."""
    return {path: view(path) for path in paths}


def _existing_part(path: str) -> str:
    """The real path of the deepest ancestor that exists, and the rest as written."""
    try:
        return os.path.realpath(path)  # resolves what exists and keeps the missing tail
    except (OSError, ValueError):
        return path


def _why(error: Exception) -> str:
    return (os.strerror(error.errno).lower() if isinstance(error, OSError) and error.errno else str(error))[
        :120
    ]
