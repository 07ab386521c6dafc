"""Deaths at every change a scenario makes to the disk, and what is left each time.

A process of its own (``python -m crash_sweep NAME ROOT FAULT``): it forks a child for each change, the
child runs the scenario on a disk that dies there, and the parent looks at what the child left. It prints
one JSON object: how many deaths there were, and what was wrong after which of them.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Final, Protocol

import msgspec

from failing_disk import DEAD, Fault, plugged_in

_MOST: Final = 2000  # changes; a scenario with more has lost its end
_ENDED: Final = 0
_RAISED: Final = 1


class Scenario(Protocol):
    """``prepare`` makes what is there before; ``run`` is what dies; ``faults`` says what is wrong after."""

    def prepare(self, root: Path) -> None: ...

    def run(self, root: Path, acknowledge: Callable[[str], None]) -> None: ...

    def faults(self, root: Path, acknowledged: list[str], *, died: bool) -> list[str]: ...


class Swept(msgspec.Struct, frozen=True):
    """``deaths`` is the number of changes the scenario makes; ``faults`` are empty when all is well."""

    deaths: int
    faults: list[str]


def sweep(scenario: Scenario, root: Path, fault: Fault) -> Swept:
    """Die at the first change, the second, … until the scenario runs to its end."""
    template = root / "before"
    template.mkdir()
    scenario.prepare(template)
    faults: list[str] = []
    for at in range(1, _MOST):
        work = root / "work"  # the same path each time, so that each run is the same run
        shutil.copytree(template, work)
        code = _in_child(scenario, work, fault, at)
        said = (work / "acknowledged").read_text("utf-8").splitlines() if code != _RAISED else []
        if code not in (_ENDED, DEAD):
            faults.append(f"change {at}: the child ended with {code}")
        else:
            faults += [f"change {at}: {one}" for one in _looked_at(scenario, work, said, died=code == DEAD)]
        shutil.rmtree(work)
        if code != DEAD:
            return Swept(at - 1, faults)
    raise AssertionError(f"no end after {_MOST} changes")


def _in_child(scenario: Scenario, work: Path, fault: Fault, at: int) -> int:
    pid = os.fork()
    if pid == 0:
        code = _RAISED
        try:
            with plugged_in(fault, at), (work / "acknowledged").open("w", buffering=1) as told:
                scenario.run(work, lambda line: print(line, file=told))
            code = _ENDED
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


def _looked_at(scenario: Scenario, work: Path, said: list[str], *, died: bool) -> list[str]:
    try:
        return scenario.faults(work, said, died=died)
    except Exception as error:
        return [f"{type(error).__name__}: {error}\n{traceback.format_exc()}"]


def main() -> None:
    from crash_scenarios import SCENARIOS

    name, root, fault = sys.argv[1:]
    swept = sweep(SCENARIOS[name], Path(root), Fault(fault))
    print(json.dumps(msgspec.to_builtins(swept)))


if __name__ == "__main__":
    main()
