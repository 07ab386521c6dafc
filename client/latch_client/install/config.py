"""The one word of the config that the hook line has to carry: whether a failing hook lets calls through.

The hook itself reads no config, for that would cost more than the whole call.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from latch_client.install import files
from latch_client.install.errors import InstallError
from latch_contracts.places import Places
from latch_contracts.strict_json import as_object


def fails_open(places: Places, connector: str) -> bool:
    """Whether ``fail`` is "open" for this connector. Raises InstallError when the file can't be read."""
    content = files.read(Path(places.config_file))
    try:
        members = tomllib.loads("" if content is None else content.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InstallError(f"`{places.config_file}` can't be read: {error}") from error
    fail = members.get("fail", "closed")
    table = as_object(fail)
    if table is not None:
        fail = table.get(connector, table.get("default", "closed"))
    return bool(fail == "open")
