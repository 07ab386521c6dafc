"""What keeps an installation from being done."""

from __future__ import annotations

from latch_client.errors import CommandError


class InstallError(CommandError):
    """The step was not taken and nothing was changed; the text says why."""
