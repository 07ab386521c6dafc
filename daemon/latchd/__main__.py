"""The command ``latchd``: the daemon in the foreground, as a service manager or a terminal wants it.

Exit codes: 0 it was told to stop · 1 it refused to start, and said why in one line · 2 wrong usage.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import msgspec
import trio

from latch_contracts.places import PlaceError, Places, resolve
from latchd import activation, app, hook_token, lock, logs, sockets
from latchd.clock import SystemClock
from latchd.engine import Engine
from latchd.guard import manifest
from latchd.keys import KeyFileError
from latchd.notify import Notifier
from latchd.policy import MAX_CONFIG_BYTES, Policy, PolicyError, Profile, parse
from latchd.release import VERSION
from latchd.rules.generation import Generation
from latchd.rules.standing import DIRECTORY, RulesError, standing_in_steps, tried
from latchd.store.errors import StoreError

STOPPED: Final = 0
REFUSED: Final = 1


class Settings(msgspec.Struct, frozen=True):
    """What the command line and the environment come to. ``config`` None: the usual file, if it is there."""

    places: Places
    config: Path | None
    profile: Profile | None
    level: logs.Level
    form: logs.Format


def main(argv: Sequence[str] | None = None) -> int:
    arguments = _parser().parse_args(argv)
    try:
        run(_settings(arguments))
    except (
        activation.ActivationError,
        app.Deaf,
        KeyFileError,
        lock.RefusedToStart,
        PlaceError,
        PolicyError,
        RulesError,
        StoreError,
    ) as error:
        print(f"latchd: {error}", file=sys.stderr)
        return REFUSED
    except KeyboardInterrupt:  # Ctrl-C before there was anything to stop
        return STOPPED
    return STOPPED


def run(settings: Settings) -> None:
    """Take the locks, open the state, bind the sockets, serve; give all of it back at the end.

    Raises the errors that ``main`` tells in one line, each before anything of another daemon's was touched.
    """
    if fault := manifest.fault(manifest.PARTICIPANTS):
        raise lock.RefusedToStart(fault)
    places = settings.places
    passed = activation.take(os.environ, os.getpid())
    notifier = Notifier(os.environ, os.getpid())
    clock = SystemClock()
    lock.private_directory(places.runtime, "runtime directory")
    with contextlib.ExitStack() as stack:
        stack.enter_context(lock.held(places.lock))
        lock.private_directory(places.state, "state directory", readable=True)
        # Another runtime directory does not make it another database.
        stack.enter_context(lock.held(f"{places.state}/latchd.lock"))
        policy = read_policy(settings)
        engine = Engine.open(places, policy, clock, rules=tried(policy, _packs(places)))
        stack.callback(engine.close)
        engine.token = _token(places, policy)
        bound: dict[str, sockets.Bound] = {}
        for name, path in (("hook", places.hook_socket), ("events", places.events_socket)):
            bound[name] = sockets.passed(passed[name]) if name in passed else sockets.bind(path)
            stack.callback(bound[name].close)
        parts = app.Parts(
            places=places,
            engine=engine,
            hook=bound["hook"],
            events=bound["events"],
            clock=clock,
            notifier=notifier,
            log=logs.Log(sys.stderr.buffer, settings.form, settings.level),
            reload=lambda: read_policy(settings),
            rules=lambda policy: read_rules(settings, policy),
            version=VERSION,
        )
        trio.run(lambda: app.serve(parts, task_status=_Said()))


def read_policy(settings: Settings) -> Policy:
    """The policy on disk now, with what the command line says on top. Raises PolicyError with one line."""
    path = settings.config or Path(settings.places.config_file)
    try:
        content = _content(path)
    except FileNotFoundError:
        if settings.config is not None:
            raise PolicyError(f"config `{path}` does not exist") from None
        content = b""
    except OSError as error:
        raise PolicyError(f"config `{path}` can't be read: {(error.strerror or '').lower()}") from error
    try:
        policy = parse(content)
    except PolicyError as error:
        raise PolicyError(f"config `{path}`: {error}") from None
    return policy if settings.profile is None else msgspec.structs.replace(policy, profile=settings.profile)


def read_rules(settings: Settings, policy: Policy) -> Iterator[Generation | None]:
    """The rules that go with a policy, as they are on disk now, in steps. Raises RulesError with one line."""
    return standing_in_steps(policy, _packs(settings.places))


def _packs(places: Places) -> str:
    return f"{places.config}/{DIRECTORY}"


class _Said:
    """Readiness, for whoever reads stderr: the one line that is no log line."""

    def started(self, value: str = "") -> None:
        print(value, file=sys.stderr, flush=True)
        gc.freeze()  # what lives now lives to the end; no later collection has to look at it


def _content(path: Path) -> bytes:
    if not stat.S_ISREG(path.stat().st_mode):  # reading a pipe would wait for ever
        raise PolicyError(f"config `{path}` is not a regular file")
    with path.open("rb") as file:
        return file.read(MAX_CONFIG_BYTES + 1)


def _token(places: Places, policy: Policy) -> str | None:
    try:
        return hook_token.provide(places.token, wanted=policy.hook.require_token)
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise lock.RefusedToStart(f"token file `{places.token}` can't be written: {why}") from error


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="latchd",
        description="Judge the tool calls of AI coding agents, in the foreground until SIGTERM or Ctrl-C. "
        "SIGHUP makes it read the policy again.",
        epilog="Exit codes: 0 it was told to stop, 1 it refused to start, 2 wrong usage.",
        allow_abbrev=False,
    )
    parser.add_argument("--config", metavar="FILE", type=Path, help="the policy, instead of config.toml")
    parser.add_argument("--runtime-dir", metavar="DIR", help="where the sockets and the lock are")
    parser.add_argument("--state-dir", metavar="DIR", help="where the database is")
    parser.add_argument("--profile", type=Profile, choices=list(Profile), help="overrules the policy's own")
    parser.add_argument(
        "--log-level",
        type=logs.Level,
        choices=list(logs.Level),
        help="what to show of the log on stderr (default: info; debug for --log-format human)",
    )
    parser.add_argument(
        "--log-format",
        choices=["auto", *logs.Format],
        default="auto",
        help="json, or short lines for a person; auto (the default) decides by whether stderr is a terminal",
    )
    parser.add_argument("--version", action="version", version=f"latchd {VERSION}")
    return parser


def _settings(arguments: argparse.Namespace) -> Settings:
    """Raises PlaceError."""
    environ = dict(os.environ)
    for variable, directory in (
        ("LATCHD_RUNTIME_DIR", arguments.runtime_dir),
        ("LATCHD_STATE_DIR", arguments.state_dir),
    ):
        if directory is not None:
            environ[variable] = str(Path(directory).absolute())
    form = arguments.log_format
    if form == "auto":
        form = logs.Format.HUMAN if sys.stderr.isatty() else logs.Format.JSON
    shown = logs.Level.DEBUG if form == logs.Format.HUMAN else logs.Level.INFO
    return Settings(
        places=resolve(environ, os.getuid(), _is_private),
        config=None if arguments.config is None else arguments.config.absolute(),
        profile=arguments.profile,
        level=arguments.log_level or shown,
        form=logs.Format(form),
    )


def _is_private(path: str) -> bool:
    """Whether it is a directory of ours that is closed to others."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISDIR(status.st_mode) and status.st_uid == os.getuid() and not status.st_mode & 0o077


if __name__ == "__main__":
    sys.exit(main())
