"""A short-lived token that goes from its issuer's program straight into the login of the issuer's registry.

`aws ecr get-login-password | docker login --password-stdin …` shows nothing and sends the token only to whom
it came from. Any other host, reader or detour is a secret that is printed or sent, as always.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from latch_contracts.facts import Command, End
from latchd.guard.subject import Subject

# The program that prints a token, and the registries that gave it out.
_ISSUERS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "aws": ("amazonaws.com", "amazonaws.com.cn", "public.ecr.aws"),
        "gcloud": ("gcr.io", "pkg.dev"),
        "az": ("azurecr.io",),
        "gh": ("ghcr.io",),
        "doctl": ("registry.digitalocean.com",),
    }
)
_CLIENTS: Final = frozenset("docker podman nerdctl buildah helm skopeo crane oras".split())


def returns_to_issuer(subject: Subject, command: Command) -> bool:
    """Whether all that the command prints goes into a registry login at its own issuer."""
    issued = _ISSUERS.get(command.program, ())
    if not issued:
        return False
    flows = [flow for flow in subject.facts.flows if flow.from_command == command.id]
    return bool(flows) and all(
        flow.sink is End.STDIN and _logs_in_at(subject.facts.command(flow.to_command), issued)
        for flow in flows
    )


def _logs_in_at(command: Command | None, issued: tuple[str, ...]) -> bool:
    if command is None or command.program not in _CLIENTS:
        return False
    words = command.argv[1:]
    if "login" not in words or "--password-stdin" not in words:
        return False
    hosts = [
        word.removeprefix("https://").partition("/")[0]
        for word in words
        if "." in word and not word.startswith("-")
    ]
    return bool(hosts) and all(_belongs(host.lower(), issued) for host in hosts)


def _belongs(host: str, issued: tuple[str, ...]) -> bool:
    return any(host == registry or host.endswith(f".{registry}") for registry in issued)
