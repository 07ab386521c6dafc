"""`latchctl policy show`: the policy in force here, every key of it, and what its profile answers."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from latch_client import locate, offline
from latch_client.errors import DONE, CommandError
from latch_client.output import print_json, table, with_json
from latch_client.paint import printable
from latch_client.subparsers import Subparsers

if TYPE_CHECKING:
    from latchd.policy import Policy

_SHOWN_HEX: Final = 16  # as much of the fingerprint as records show


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "policy", help="show the policy in force", description="The policy that calls are judged by."
    )
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="show")
    show = verbs.add_parser(
        "show",
        help="show every key of the policy",
        description="Every key of the policy, read from your config and the project's .latchd.toml.",
    )
    show.add_argument(
        "--project", default=".", metavar="DIR", help="where an agent would work (default: here)"
    )
    show.add_argument(
        "--profile", choices=offline.PROFILES, metavar="NAME", help="as if this profile were set"
    )
    with_json(show)
    show.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    from latch_contracts.verdict import Severity
    from latchd.guard.groups import TITLES, Group
    from latchd.policy import fingerprint

    policy, sources = effective(Path(locate.places().config_file), arguments.project)
    policy = offline.with_profile(policy, arguments.profile)
    mark = fingerprint(policy).hex()[:_SHOWN_HEX]
    groups = {group: policy.answer(group, Severity.HIGH) for group in Group if group is not Group.BY_SEVERITY}
    severities = {severity: policy.answer(Group.BY_SEVERITY, severity) for severity in Severity}
    if arguments.json:
        print_json(
            {
                "fingerprint": mark,
                "sources": sources,
                "policy": members(policy),
                "groups": groups,
                "severities": severities,
            }
        )
    else:
        rows = [(action.value, group.value, TITLES[group]) for group, action in groups.items()]
        rows += [
            (action.value, f"severity {severity.value}", "a rule of a pack that names no group")
            for severity, action in reversed(severities.items())
        ]
        print("\n".join(lines(policy, mark, sources, rows)))
    return DONE


def effective(config: Path, project: str) -> tuple[Policy, list[str]]:
    """The person's policy with the project's wishes on top, and the files they were read from."""
    from latchd.policy import PolicyError
    from latchd.projects import NAME, Projects

    sources: list[str] = []
    try:
        own = config.read_bytes()
        sources.append(str(config))
    except FileNotFoundError:
        own = b""
    root = Path(project).resolve(strict=True)
    try:
        policy = Projects(offline.parsed(own, str(config))).policy_at(str(root))
    except PolicyError as error:
        raise CommandError(str(error)) from error
    files = (place / NAME for place in (root, *root.parents))
    sources += [str(file) for file in files if file.is_file()][:1]
    return policy, sources


def lines(policy: Policy, mark: str, sources: list[str], groups: list[tuple[str, str, str]]) -> Iterator[str]:
    """The human form: where from, the keys as TOML would name them, the profile's answers."""
    yield f"policy {mark}"
    yield f"from {printable(', '.join(sources)) if sources else 'the built-in defaults'}"
    yield ""
    for key, value in _flat(members(policy)):
        yield printable(f"{key} = {json.dumps(value, ensure_ascii=False)}")
    yield ""
    yield f"what profile `{policy.profile.value}` answers"
    yield from table(groups, indent="  ")


def members(policy: Policy) -> dict[str, Any]:
    """Every key with its value, defaults too (the struct's own encoding leaves those out)."""
    return {name: _plain(value) for name, value in msgspec.structs.asdict(policy).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, msgspec.Struct):
        return {name: _plain(member) for name, member in msgspec.structs.asdict(value).items()}
    return msgspec.to_builtins(value)


def _flat(table_of: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table_of.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")  # pyright: ignore[reportUnknownArgumentType]
        else:
            yield f"{prefix}{key}", value
