"""`latchctl`: everything a person does with latchd, one module per command.

A command's module is imported only when it was chosen, so that `latchctl check` in a loop doesn't
pay for the others; what `--help` shows of each stands in COMMANDS.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Final, NoReturn

from latch_client.errors import DONE, FAILED, USAGE, CommandError, UsageError
from latch_client.output import complain
from latch_contracts.errors import ContractError

# name -> what it does, in the order a person meets them; the module is latch_client.commands.<name>
COMMANDS: Final[Mapping[str, str]] = {
    "up": "start the daemon",
    "down": "stop the daemon",
    "status": "say how the daemon is",
    "doctor": "check the whole set-up and say what to repair",
    "install": "hook an agent up",
    "uninstall": "take the hooks out again",
    "connectors": "list the agents latchd knows",
    "tail": "show records as they are made",
    "history": "show the newest records",
    "sessions": "list the latest sessions",
    "chains": "list the ordered chains latchd watches for",
    "show": "show all that is known of one call",
    "allow": "let one refused call pass once",
    "probe": "ask the running daemon about a hook payload; no state is kept",
    "explain": "show what a command would do and why it is judged so",
    "check": "judge commands offline",
    "scan": "judge the shell text in files, for CI",
    "facts": "show the facts of commands offline",
    "policy": "show the policy in force",
    "rules": "list, check and try rules",
    "db": "check, copy, shrink or export the database",
    "completion": "print a completion script for your shell",
    "demo": "replay a session through the real hook and a private daemon",
    "bench": "measure what latchd costs on this machine",
}

_USAGE: Final = "usage: latchctl COMMAND [options]"


class Parser(argparse.ArgumentParser):
    """argparse, but a mistake is one line and the options may not be shortened."""

    def __init__(self, *args: object, **options: object) -> None:
        options.setdefault("allow_abbrev", False)
        super().__init__(*args, **options)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]

    def error(self, message: str) -> NoReturn:
        raise UsageError(f"{message}; see `{self.prog} --help`")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command. The exit code: 0 done, 1 failed, 2 wrong usage, others as the command says."""
    _replace_closed_streams()
    _survive_encoding(sys.stdout)
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        return _run(words)
    except UsageError as error:
        complain(str(error))
        return USAGE
    except (CommandError, ContractError) as error:
        complain(str(error))
        return FAILED
    except BrokenPipeError:
        _let_go_of_stdout()
        return DONE
    except UnicodeEncodeError:
        complain("an argument is not UTF-8")
        return USAGE
    except OSError as error:
        _let_go_of_stdout()
        where = f"`{error.filename}`: " if error.filename else ""
        complain(f"{where}{(error.strerror or str(error)).lower()}")
        return FAILED
    except KeyboardInterrupt:
        return 130  # 128 + SIGINT, as a shell says it


def parser_of(name: str) -> argparse.ArgumentParser:
    """The whole parser with this one command in it."""
    parser = Parser(prog="latchctl")
    subparsers = parser.add_subparsers(dest="command", required=True, parser_class=Parser)
    importlib.import_module(f"latch_client.commands.{name}").add(subparsers)
    return parser


def help_text() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name:<{width}}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [_USAGE, "", *lines, "", "`latchctl COMMAND --help` tells more; `latchctl --version` the version."]
    )


def _run(words: Sequence[str]) -> int:
    code = _chosen(words)
    sys.stdout.flush()  # here, so that a broken pipe is met where it is handled
    return code


def _chosen(words: Sequence[str]) -> int:
    match words:
        case [] | ["help"]:
            print(help_text(), file=sys.stdout if words else sys.stderr)
            return DONE if words else USAGE
        case ["-h" | "--help", *_]:
            print(help_text())
            return DONE
        case ["-V" | "--version", *_]:
            print(f"latchctl {_version()}")
            return DONE
        case [name, *_] if name in COMMANDS:
            return _run_command(name, words)
        case [option, *_] if option.startswith("-"):
            raise UsageError(f"`{option}` stands before the command; see `latchctl --help`")
        case [name, *_]:
            raise UsageError(f"there is no command `{name}`{_meant(name)}; see `latchctl --help`")
        case _:
            raise AssertionError(words)


def _run_command(name: str, words: Sequence[str]) -> int:
    try:
        arguments, left = parser_of(name).parse_known_args(words)
    except SystemExit as done:  # --help has been printed
        return int(done.code or 0)
    if left:
        quoted = "; a command is one argument, in quotes" if "shell_command" in arguments else ""
        raise UsageError(f"unrecognized arguments: {' '.join(left)}{quoted}; see `latchctl {name} --help`")
    return int(arguments.func(arguments))


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("latchd")
    except metadata.PackageNotFoundError:
        return "(not installed)"


def _meant(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"; did you mean `{near[0]}`" if near else ""


def _survive_encoding(stream: object) -> None:
    """A terminal that can't show `…` gets an escape; it must not end a tail."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")  # pyright: ignore[reportUnknownMemberType]


def _replace_closed_streams() -> None:
    """A standard stream that is closed becomes /dev/null, or the next file opened would take its number."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)  # the lowest free number: this one
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115


def _let_go_of_stdout() -> None:
    """What can't be written to stdout is given up; or the interpreter complains of it while it ends."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        with contextlib.suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)


if __name__ == "__main__":
    sys.exit(main())
