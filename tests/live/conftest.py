"""Fixtures of the live runs; each says why it skips where something it needs is missing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from live import namespace
from live.claude_cli import NotInstallable, installed
from live.stage import Stage, new_root

_CACHE: Final = Path.home() / ".cache" / "latchd-live"
_SCRATCH: Final = ("/tmp", "/var/tmp", "/dev/shm")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--live-cache",
        type=Path,
        default=_CACHE,
        metavar="DIR",
        help="where the agents' CLIs are kept, and the directories of live runs while they last",
    )


@pytest.fixture(scope="session")
def live_cache(request: pytest.FixtureRequest) -> Path:
    cache = Path(str(request.config.getoption("--live-cache", _CACHE))).resolve()
    for scratch in _SCRATCH:
        if cache.is_relative_to(scratch):
            raise pytest.UsageError(
                f"`{cache}` is in scratch space, where an agent may delete; give another --live-cache"
            )
    return cache


@pytest.fixture(scope="session")
def claude(live_cache: Path) -> Path:
    """The CLI's binary, fetched once."""
    if why := namespace.why_not():
        pytest.skip(why)
    try:
        return installed(live_cache)
    except NotInstallable as error:
        pytest.skip(str(error))


@pytest.fixture
def stage(live_cache: Path, claude: Path) -> Iterator[Stage]:
    """A run's world with the CLI in it, and no hook yet."""
    with Stage(new_root(live_cache), claude) as built:
        yield built


@pytest.fixture
def guarded(stage: Stage) -> Stage:
    """The same with a running daemon and our hooks, installed as a person installs them."""
    stage.start_daemon()
    stage.install_hooks()
    return stage
