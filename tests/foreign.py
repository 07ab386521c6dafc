"""Another process with another SQLite at our database: what only a foreign reader or lock holder can show.

Never from this process: two SQLite libraries in one process don't see each other's locks, and
closing the one's file drops the other's.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

_QUERY = """
import json, sqlite3, sys
connection = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
print(json.dumps(connection.execute(sys.argv[2]).fetchall(), default=repr))
"""
_EXECUTE = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
for statement in sys.argv[2:]:
    connection.execute(statement)
connection.commit()
connection.close()
"""
_HOLD = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"""


def query(path: str | Path, sql: str) -> list[list[Any]]:
    """The rows that another process reads; blobs come as their repr."""
    done = subprocess.run(
        [sys.executable, "-c", _QUERY, str(path), sql], capture_output=True, check=True, timeout=60
    )
    rows: list[list[Any]] = json.loads(done.stdout)
    return rows


def execute(path: str | Path, *statements: str) -> None:
    """What another process changes; close our own database first."""
    subprocess.run([sys.executable, "-c", _EXECUTE, str(path), *statements], check=True, timeout=60)


@contextlib.contextmanager
def holding(path: str | Path) -> Generator[None]:
    """Another process has the write lock."""
    holder = subprocess.Popen(
        [sys.executable, "-c", _HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    with holder:
        assert holder.stdout.readline() == b"held\n"
        yield
        holder.stdin.close()
