"""What the offline commands share: their options, and the policy they judge by.

The daemon's pure core is imported here and in the commands' `run`, nowhere else in the client.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Final

from latch_client.errors import CommandError, UsageError

if TYPE_CHECKING:
    from latchd.policy import Policy
    from latchd.rules.generation import Generation

# Taken as given, so that a check says the same on every machine; nothing is read from disk.
CWD: Final = "/home/dev/project"
HOME: Final = "/home/dev"
PROFILES: Final = ("observe", "balanced", "strict")


def with_command(parser: argparse.ArgumentParser, *, batch: bool) -> None:
    """The command to look at, as an argument or, with ``batch``, as JSON lines."""
    parser.add_argument(
        "shell_command", nargs="?" if batch else None, metavar="COMMAND", help="the shell command"
    )
    if batch:
        parser.add_argument(
            "--jsonl",
            nargs="?",
            const="-",
            metavar="FILE",
            help="read JSON lines from FILE, or from stdin, instead",
        )
    parser.add_argument("--cwd", metavar="DIR", help=f"where it would run (default {CWD})")
    parser.add_argument("--home", metavar="DIR", help=f"whose home (default {HOME})")


def with_policy(parser: argparse.ArgumentParser) -> None:
    """The options that choose the policy; without them it is the built-in one."""
    parser.add_argument(
        "--profile", choices=PROFILES, metavar="NAME", help="observe, balanced (default) or strict"
    )
    parser.add_argument(
        "--config", metavar="FILE", help="judge by this config.toml instead of the built-in policy"
    )
    parser.add_argument(
        "--rules", metavar="DIR", help="judge by the packs in this directory too, beside the built-in rules"
    )


def chosen(arguments: argparse.Namespace) -> str | None:
    """The one source there must be: None for COMMAND, else the file of --jsonl. Raises UsageError."""
    source: str | None = arguments.jsonl
    if (arguments.shell_command is None) == (source is None):
        raise UsageError("give either a COMMAND or --jsonl")
    return source


def given(arguments: argparse.Namespace) -> dict[str, str]:
    """The places that were given; a line's own go before them, the defaults after."""
    return {name: value for name in ("cwd", "home") if (value := getattr(arguments, name)) is not None}


def policy_of(arguments: argparse.Namespace) -> Policy:
    """The policy of the options. Raises CommandError for a file that can't be used."""
    config = b"" if arguments.config is None else Path(arguments.config).read_bytes()
    return with_profile(parsed(config, arguments.config or "policy"), arguments.profile)


def rules_of(arguments: argparse.Namespace, policy: Policy) -> Generation:
    """The built-in rules and the packs of the options. Raises CommandError for one that can't be used."""
    return standing(policy, arguments.rules)


def standing(policy: Policy, directory: str | None) -> Generation:
    """The built-in rules, with the packs of a directory, as a policy wants them. Raises CommandError."""
    from latchd.rules.bundled import without
    from latchd.rules.generation import GenerationError
    from latchd.rules.standing import RulesError
    from latchd.rules.standing import standing as read

    if directory is not None and not Path(directory).is_dir():
        raise CommandError(f"`{directory}` is no directory")
    try:
        return without(policy.rules.disable) if directory is None else read(policy, directory)
    except (GenerationError, RulesError) as error:
        raise CommandError(str(error)) from error


def parsed(config: bytes, name: str) -> Policy:
    from latchd.policy import PolicyError, parse

    try:
        return parse(config)
    except PolicyError as error:
        raise CommandError(f"`{name}`: {error}") from error


def with_profile(policy: Policy, profile: str | None) -> Policy:
    import msgspec

    from latchd.policy import Profile

    return policy if profile is None else msgspec.structs.replace(policy, profile=Profile(profile))
