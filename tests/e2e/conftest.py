"""A short root for sockets: the kernel takes 107 bytes of path, pytest's own directories can be longer."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def root() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="latchd-"))
    yield made
    shutil.rmtree(made)
