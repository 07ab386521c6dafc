"""installs.json: which settings files hold our hook line, by connector. The daemon and doctor read it."""

from __future__ import annotations

from pathlib import Path

import msgspec

from latch_client.install import files
from latch_client.install.errors import InstallError
from latch_contracts.places import Places


class Installed(msgspec.Struct, frozen=True):
    """One settings file. ``created``: there was no such file before; ``agent_version`` "" = not seen."""

    settings: str
    line: str
    events: tuple[str, ...] = ()
    agent_version: str = ""
    scope: str = "user"
    created: bool = False


class Entry(msgspec.Struct, frozen=True):
    """One connector: the file that counts first (the user's, where there is one), then all of them."""

    settings: str = ""
    line: str = ""
    events: tuple[str, ...] = ()
    agent_version: str = ""
    files: tuple[Installed, ...] = ()


def load(places: Places) -> dict[str, Entry]:
    """What is installed; nothing when the file is missing. Raises InstallError when it can't be read."""
    content = files.read(Path(places.installs))
    if content is None:
        return {}
    try:
        return msgspec.json.decode(content, type=dict[str, Entry])
    except msgspec.DecodeError as error:
        raise InstallError(f"`{places.installs}` is damaged: {error}; remove it and install again") from error


def installed(places: Places, connector: str) -> tuple[Installed, ...]:
    entry = load(places).get(connector)
    return () if entry is None else entry.files


def find(places: Places, connector: str, settings: Path) -> Installed | None:
    return next((one for one in installed(places, connector) if one.settings == str(settings)), None)


def add(places: Places, connector: str, new: Installed) -> None:
    """Record one settings file, in the place of what was recorded of it before."""
    others = tuple(one for one in installed(places, connector) if one.settings != new.settings)
    _store(places, connector, (*others, new))


def remove(places: Places, connector: str, settings: str) -> None:
    _store(places, connector, tuple(one for one in installed(places, connector) if one.settings != settings))


def restore(places: Places, connector: str, new: Installed, earlier: Installed | None) -> None:
    """Take back an :func:`add` of ``new``."""
    if earlier is None:
        remove(places, connector, new.settings)
    else:
        add(places, connector, earlier)


def _store(places: Places, connector: str, found: tuple[Installed, ...]) -> None:
    entries = load(places)
    before = files.read(Path(places.installs))
    ordered = tuple(sorted(found, key=lambda one: (one.scope != "user", one.settings)))
    if ordered:
        first = ordered[0]
        entries[connector] = Entry(first.settings, first.line, first.events, first.agent_version, ordered)
    else:
        entries.pop(connector, None)
    try:
        Path(places.state).mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise InstallError(f"`{places.state}` can't be made: {error.strerror}") from error
    content = msgspec.json.format(msgspec.json.encode(entries), indent=2) + b"\n"
    if content != before:
        files.replace(Path(places.installs), before, content)
