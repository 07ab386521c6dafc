"""The user's own directories that other programs' settings stand in."""

from __future__ import annotations

import os
from pathlib import Path

from latch_client.install.errors import InstallError


def home() -> Path:
    value = os.environ.get("HOME", "")
    if not value.startswith("/"):
        raise InstallError("HOME names no absolute directory")
    return Path(value)


def config_home() -> Path:
    value = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(value) if value.startswith("/") else home() / ".config"
