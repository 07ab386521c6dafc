"""A death at every single change to the disk, of the process and of the machine, and what is left of it.

Each sweep is a process of its own that forks a child for each change (tests/crash_sweep.py): the process
of the tests may have threads, and a fork would not take them along.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from failing_disk import Fault


def swept(name: str, root: Path, fault: Fault) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "crash_sweep", name, str(root), fault.value],
        env=os.environ | {"PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    print(f"\n{name}, {fault}: {done.stdout.strip()[:2000]}")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.KILL, Fault.POWER])
def test_a_death_at_any_change_loses_nothing_acknowledged_and_promotes_nothing(
    root: Path, fault: Fault
) -> None:
    found = swept("work", root, fault)

    assert found["faults"] == []
    assert found["deaths"] > 200  # fourteen or so a transaction: fewer would mean that it looked elsewhere


@pytest.mark.slow
@pytest.mark.parametrize("fault", [Fault.KILL, Fault.POWER])
def test_a_death_anywhere_in_a_migration_leaves_a_whole_schema_and_a_way_on(root: Path, fault: Fault) -> None:
    found = swept("migration", root, fault)

    assert found["faults"] == []
    assert found["deaths"] > 20
