"""What may be wrong with an installation, each with a way out: one function per thing looked at.

Nothing is changed and nothing is started; the daemon is asked for its status and no more.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from latch_client import running
from latch_client.errors import CommandError
from latch_client.install import config, files, systemd
from latch_client.install.hook_line import HOOK, HookWords, words_of
from latch_client.install.scene import Check, Grade, Scene
from latch_contracts.connectors.claudecode import CONTRACT
from latch_contracts.connectors.claudecode import settings as claude
from latch_contracts.contract import Compatibility

MANAGED_SETTINGS: Final = Path("/etc/claude-code/managed-settings.json")

_START: Final = "start the daemon with `latchctl up`"
_RESTART: Final = "run `latchctl down` and `latchctl up`"
_INSTALL: Final = "run `latchctl install claudecode`"


def examine(scene: Scene) -> list[Check]:
    """All checks in order. One that can't look is a failure of its own, never the end of the rest."""
    found: list[Check] = []
    for check in CHECKS:
        try:
            found += check(scene)
        except (CommandError, OSError) as error:
            found.append(Check(check.__name__.removeprefix("_"), Grade.FAIL, str(error)))
    return found


def _python(scene: Scene) -> Iterator[Check]:
    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info < (3, 11):  # noqa: UP036 — a hook line may name an older interpreter than pip checked
        yield Check(
            "python", Grade.FAIL, f"{version} is older than 3.11", "install latchd with a newer Python"
        )
    else:
        yield Check("python", Grade.OK, f"{version} at {sys.executable}")
    if HOOK.is_file():
        yield Check("package", Grade.OK, f"hook at {HOOK}")
    else:
        yield Check("package", Grade.FAIL, f"{HOOK} is missing", "install latchd again")


def _directories(scene: Scene) -> Iterator[Check]:
    for name, path in (("runtime directory", scene.places.runtime), ("state directory", scene.places.state)):
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            yield Check(name, Grade.WARN, f"{path} does not exist yet", _START)
            continue
        mode = stat.S_IMODE(status.st_mode)
        if not stat.S_ISDIR(status.st_mode):
            yield Check(name, Grade.FAIL, f"{path} is no directory", f"move it away, then {_START}")
        elif status.st_uid != os.getuid():
            yield Check(name, Grade.FAIL, f"{path} belongs to user {status.st_uid}", "set another directory")
        elif mode & 0o077:
            yield Check(
                name, Grade.FAIL, f"{path} is open to others (mode {mode:04o})", f"run `chmod 700 {path}`"
            )
        else:
            yield Check(name, Grade.OK, f"{path} (mode {mode:04o})")


def _daemon(scene: Scene) -> Iterator[Check]:
    if scene.status is None:
        yield Check("daemon", Grade.FAIL, scene.status_why, "" if "`" in scene.status_why else _START)
    else:
        yield Check("daemon", Grade.OK, f"latchd {scene.status.latchd} answers, process {scene.status.pid}")
    for path in map(Path, (scene.places.hook_socket, scene.places.events_socket)):
        mode = stat.S_IMODE(path.stat().st_mode) if path.is_socket() else None
        if mode is None and scene.status is not None:
            yield Check("socket", Grade.FAIL, f"{path} is no socket", _RESTART)
        elif mode is not None and mode & 0o077:
            yield Check("socket", Grade.FAIL, f"{path} has mode {mode:04o}", f"run `chmod 600 {path}`")
    holder = running.holder(scene.places)
    if holder is not None:
        yield Check(
            "lock", Grade.OK, f"{scene.places.lock} is held" + (f" by process {holder}" if holder else "")
        )
    elif scene.status is not None:
        yield Check(
            "lock", Grade.WARN, f"nobody holds {scene.places.lock}: a second daemon could start", _RESTART
        )


def _health(scene: Scene) -> Iterator[Check]:
    """The database and all else that the daemon knows of itself."""
    if scene.status is None:
        return
    notes = "; ".join(scene.status.notes)
    if scene.status.health == "ok":
        yield Check(
            "database", Grade.OK, f"open; profile {scene.status.profile}" + (f"; {notes}" if notes else "")
        )
    else:
        yield Check(
            "database", Grade.WARN, f"health is {scene.status.health}: {notes}", "look at `latchctl status`"
        )


def _spool(scene: Scene) -> Iterator[Check]:
    path = Path(scene.places.spool)
    size = path.stat().st_size if path.exists() else 0
    if size:
        yield Check(
            "spool",
            Grade.WARN,
            f"hooks found no daemon: {path} has {size} bytes",
            "the daemon reads it when it runs",
        )


def _hooks(scene: Scene) -> Iterator[Check]:
    entry = scene.entries.get(CONTRACT.connector)
    if scene.entries_why:
        yield Check("hooks", Grade.FAIL, scene.entries_why, _INSTALL)
        return
    if entry is None or not entry.files:
        yield Check("hooks", Grade.FAIL, "no agent has a hook of latchd", _INSTALL)
        return
    for one in entry.files:
        again = _INSTALL if one.scope == "user" else f"{_INSTALL} --settings {one.settings}"
        content = files.read(Path(one.settings))
        if content is None:
            yield Check("hooks", Grade.FAIL, f"{one.settings} is gone", again)
            continue
        problems = claude.hook_problems(content, one.line, scene.agent_version or one.agent_version)
        for problem in problems:
            yield Check("hooks", Grade.FAIL, f"{one.settings}: {problem}", again)
        for why in _dead_words(words_of(one.line)):
            yield Check("hook line", Grade.FAIL, f"{one.settings}: {why}", again)
        if not problems:
            yield Check("hooks", Grade.OK, f"{one.settings}: {len(one.events)} events")


def _failing(scene: Scene) -> Iterator[Check]:
    """The config's word on failures is carried by the hook line: an older line holds an older word."""
    entry = scene.entries.get(CONTRACT.connector)
    wanted = config.fails_open(scene.places, CONTRACT.connector)
    for one in () if entry is None else entry.files:
        opened = "--fail-open" in one.line.split()
        if opened:
            found = f"{one.settings}: calls go through unjudged when the daemon can't be asked"
            yield Check("fail-open", Grade.WARN, found, "" if wanted else "install again without --fail-open")
        elif wanted:
            found = f'{one.settings}: `fail = "open"` in the config is not in the hook line'
            yield Check("fail-open", Grade.WARN, found, _INSTALL)


def _dead_words(words: HookWords | None) -> Iterator[str]:
    if words is None:
        yield "the recorded hook line is not one of ours"
        return
    if not os.access(words.python, os.X_OK):
        yield f"the hook line's interpreter {words.python} can't be run: every call would go through unjudged"
    if not os.access(words.hook, os.R_OK):
        yield f"the hook line's {words.hook} is missing: every call would be refused"


def _switches(scene: Scene) -> Iterator[Check]:
    """Settings of the project that take a user's hooks away."""
    entry = scene.entries.get(CONTRACT.connector)
    looked_at = {one.settings for one in entry.files} if entry is not None else set[str]()
    for name in ("settings.json", "settings.local.json"):
        path = scene.working_directory / ".claude" / name
        if str(path) in looked_at:
            continue
        content = files.read(path)
        for problem in () if content is None else claude.switch_problems(content):
            yield Check(
                "project settings",
                Grade.FAIL,
                f"{path}: {problem}",
                "remove it, or do not run the agent here",
            )


def _agent(scene: Scene) -> Iterator[Check]:
    entry = scene.entries.get(CONTRACT.connector)
    version = scene.agent_version
    if not version:
        yield Check("agent", Grade.WARN, "`claude` is not on PATH or does not tell its version")
        return
    if CONTRACT.compatibility(version) is Compatibility.UNKNOWN:
        low = ".".join(map(str, CONTRACT.versions.minimum))
        yield Check(
            "agent",
            Grade.WARN,
            f"claude {version} is outside the reviewed versions (from {low})",
            "calls are judged, nothing is learned from results",
        )
    else:
        yield Check("agent", Grade.OK, f"claude {version}")
    if entry is not None and entry.agent_version != version:
        known = entry.agent_version or "no version"
        yield Check(
            "agent", Grade.WARN, f"the hooks were installed for {known}, the agent is {version}", _INSTALL
        )


def _units(scene: Scene) -> Iterator[Check]:
    target = systemd.directory()
    missing = [name for name in systemd.UNITS if not (target / name).is_file()]
    if missing:
        yield Check(
            "units", Grade.WARN, f"no {', '.join(missing)} in {target}", "run `latchctl install --systemd`"
        )
    elif any(unit.changes for unit in systemd.plan(systemd.daemon_command())):
        yield Check(
            "units",
            Grade.WARN,
            f"the units in {target} are not this version's",
            "run `latchctl install --systemd`",
        )
    else:
        yield Check("units", Grade.OK, f"in {target}")


def _managed(scene: Scene) -> Iterator[Check]:
    content = files.read(MANAGED_SETTINGS)
    if content is not None and b"latch_client/hook.py" in content:
        yield Check("managed settings", Grade.OK, f"{MANAGED_SETTINGS} holds the hooks too")
        return
    if content is not None:
        for problem in claude.switch_problems(content):
            yield Check(
                "managed settings", Grade.FAIL, f"{MANAGED_SETTINGS}: {problem}", "ask your administrator"
            )
    yield Check(
        "managed settings",
        Grade.WARN,
        "a project, a flag or an allowed command can switch a user's hooks off",
        f"an administrator can put the same hooks into {MANAGED_SETTINGS}, which survives all of them",
    )


CHECKS: Final[tuple[Callable[[Scene], Iterator[Check]], ...]] = (
    _python,
    _directories,
    _daemon,
    _health,
    _spool,
    _hooks,
    _failing,
    _switches,
    _agent,
    _units,
    _managed,
)
