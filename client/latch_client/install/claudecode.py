"""Our hook line in Claude Code's settings: what a file should become, and making it so.

A plan is looked at before it is done: it is refused when the agent would drop the resulting file,
because then no hook at all would run and nobody would be told.
"""

from __future__ import annotations

import contextlib
import os
import py_compile
import shutil
import subprocess
from collections.abc import Generator, Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from latch_client.install import files, ledger, splice, where
from latch_client.install.errors import InstallError
from latch_client.install.hook_line import HOOK, is_ours
from latch_contracts.connectors.claudecode import CONTRACT
from latch_contracts.connectors.claudecode import settings as claude
from latch_contracts.contract import parse_version
from latch_contracts.places import Places

CONNECTOR: Final = CONTRACT.connector
VERSION_SECONDS: Final = 2.0


class Plan(msgspec.Struct, frozen=True):
    """One settings file, now and afterwards; None is no file."""

    settings: Path
    before: bytes | None
    after: bytes | None

    @property
    def changes(self) -> bool:
        return self.before != self.after

    def diff(self) -> str:
        return files.diff(self.settings, self.before, self.after)


def settings_path(scope: str, given: str = "") -> Path:
    """The settings file of a scope, absolute; symbolic links stay as the agent names them."""
    if given:
        return Path(given).expanduser().absolute()
    if scope == "project":
        return Path.cwd() / ".claude" / "settings.json"
    own = os.environ.get("CLAUDE_CONFIG_DIR", "")  # the agent's own way to move its directory
    return (Path(own) if own.startswith("/") else where.home() / ".claude") / "settings.json"


def plan_install(settings: Path, line: str, agent_version: str, recorded: ledger.Installed | None) -> Plan:
    """What the file becomes with exactly our handlers in it. Raises InstallError when it can't hold them."""
    before = files.read(settings)
    with _left_as_it_is(settings):
        text = splice.checked(splice.EMPTY.encode() if before is None else before)
        groups = claude.groups(line, agent_version)
        if claude.hook_problems(text.encode(), line, agent_version) or not _handlers_are(text, groups):
            plain = _freed(settings, text, recorded)
            text = splice.with_groups(splice.EMPTY if plain is None else plain, groups)
        problems = claude.hook_problems(text.encode(), line, agent_version)
        if problems:
            raise InstallError(f"with it no hook would run: {problems[0]}")
    return Plan(settings, before, text.encode())


def plan_uninstall(settings: Path, recorded: ledger.Installed | None) -> Plan:
    """What the file becomes without our handlers: to the byte what it was, if nothing else changed."""
    before = files.read(settings)
    if before is None:
        return Plan(settings, None, None)
    with _left_as_it_is(settings):
        freed = _freed(settings, splice.checked(before), recorded)
    return Plan(settings, before, None if freed is None else freed.encode())


@contextlib.contextmanager
def _left_as_it_is(settings: Path) -> Generator[None]:
    try:
        yield
    except InstallError as error:
        raise InstallError(f"`{settings}` is left as it is: {error}") from error


def install(plan: Plan, places: Places, line: str, agent_version: str, scope: str) -> Path | None:
    """Do it and record it; gives the backup that was made, if one was. Raises InstallError, all undone."""
    assert plan.after is not None  # noqa: S101 — plan_install always gives a file
    earlier = ledger.find(places, CONNECTOR, plan.settings)
    new = ledger.Installed(
        settings=str(plan.settings),
        line=line,
        events=claude.registered(agent_version),
        agent_version=agent_version,
        scope=scope,
        created=plan.before is None or (earlier is not None and earlier.created),
    )
    backup: Path | None = None
    if plan.changes and plan.before is not None and not splice.has_ours(splice.checked(plan.before), _ours):
        backup = files.back_up(plan.settings, plan.before)
    ledger.add(places, CONNECTOR, new)  # first: hooks that the daemon knows nothing of would be worse
    if plan.changes:
        try:
            files.replace(plan.settings, plan.before, plan.after)
        except InstallError:
            ledger.restore(places, CONNECTOR, new, earlier)
            raise
    _compile()
    return backup


def _compile() -> None:
    """Some installers leave no bytecode, and a hook may have no right to write it: make it here."""
    for name in ("shim", "fallbacks", "autostart"):
        with contextlib.suppress(OSError, py_compile.PyCompileError):
            py_compile.compile(str(HOOK.with_name(f"{name}.py")), doraise=True)


def uninstall(plan: Plan, places: Places) -> None:
    if plan.changes and plan.after is None:
        files.remove(plan.settings, plan.before)
    elif plan.changes and plan.after is not None:
        files.replace(plan.settings, plan.before, plan.after)
    ledger.remove(places, CONNECTOR, str(plan.settings))


def agent_version() -> str:
    """The version that the agent on PATH tells of itself, "" when there is none or it takes too long."""
    program = shutil.which("claude")
    if program is None:
        return ""
    try:
        told = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=VERSION_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    version = parse_version(told.stdout.decode("utf-8", "replace"))
    return "" if version is None else ".".join(map(str, version))


def _freed(settings: Path, text: str, recorded: ledger.Installed | None) -> str | None:
    """The text without our handlers; None when we made the file and nobody else wrote into it.

    Cutting can't tell a container that was empty before from one that we emptied. So where an
    installation into an older text gives exactly this one, that older text it is.
    """
    if not splice.has_ours(text, _ours):
        return text
    if recorded is not None:
        groups = claude.groups(recorded.line, recorded.agent_version)
        if recorded.created and text == splice.with_groups(splice.EMPTY, groups):
            return None
        for original in _originals(settings):
            if not splice.has_ours(original, _ours) and _put(original, groups) == text:
                return original
    return splice.without_groups(text, _ours)


def _originals(settings: Path) -> Iterator[str]:
    for backup in files.backups(settings):
        content = files.read(backup)
        try:
            yield splice.checked(content or b"")
        except InstallError:
            continue  # somebody put another file there


def _put(text: str, groups: Mapping[str, Mapping[str, Any]]) -> str | None:
    try:
        return splice.with_groups(text, groups)
    except InstallError:
        return None


def _handlers_are(text: str, groups: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether our handlers in the text are the wanted ones, each once and no other."""
    wanted = [(event, handler) for event, group in groups.items() for handler in group["hooks"]]
    found = [one for one in splice.handlers(text) if _ours(one[1])]
    return sorted(found, key=repr) == sorted(wanted, key=repr)


def _ours(handler: Mapping[str, Any]) -> bool:
    return is_ours(handler, CONNECTOR)
