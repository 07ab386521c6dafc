"""What the doctor looks at, gathered once, and the words it answers in."""

from __future__ import annotations

import enum
from pathlib import Path

import msgspec

from latch_client import link
from latch_client.errors import CommandError
from latch_client.install import claudecode, ledger
from latch_contracts import wire
from latch_contracts.places import Places


class Grade(enum.StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


class Check(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing looked at. ``way_out`` is what to do, "" when nothing is to be done."""

    name: str
    grade: Grade
    found: str
    way_out: str = ""


class Scene(msgspec.Struct, frozen=True):
    """What the checks look at, gathered once."""

    places: Places
    working_directory: Path
    entries: dict[str, ledger.Entry]
    entries_why: str
    status: wire.Status | None
    status_why: str
    agent_version: str


def gather(places: Places) -> Scene:
    status, why = ask_status(places.hook_socket)
    entries, entries_why = _entries(places)
    return Scene(
        places=places,
        working_directory=Path.cwd(),
        entries=entries,
        entries_why=entries_why,
        status=status,
        status_why=why,
        agent_version=claudecode.agent_version(),
    )


def _entries(places: Places) -> tuple[dict[str, ledger.Entry], str]:
    try:
        return ledger.load(places), ""
    except CommandError as error:
        return {}, str(error)


def ask_status(path: str) -> tuple[wire.Status | None, str]:
    """The daemon's status, or None and why there is none, with the way out in it."""
    try:
        return link.ask(path, wire.StatusRequest(wire.VERSION), wire.Status), ""
    except CommandError as error:
        return None, str(error)
