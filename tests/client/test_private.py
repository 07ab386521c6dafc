"""The private daemon of demo and bench: starts, answers, leaves nothing."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from latch_client import private
from latch_client.errors import CommandError

pytestmark = pytest.mark.slow


def test_a_private_daemon_answers_and_leaves_nothing_behind() -> None:
    with private.daemon() as daemon:
        root = Path(daemon.places.runtime).parent
        done = subprocess.run(
            daemon.hook_argv, input=b"{}", env=daemon.environ, capture_output=True, check=False, timeout=30
        )
        assert root.is_dir()

    assert done.returncode == 2
    assert b"hook_event_name" in done.stderr
    assert not root.exists()


def test_a_daemon_that_refuses_its_config_is_told_in_its_own_words() -> None:
    started = private.daemon(config='profile = "reckless"')

    with pytest.raises(CommandError, match="the daemon did not start: latchd: "):
        started.__enter__()
