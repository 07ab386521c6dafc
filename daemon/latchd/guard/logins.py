"""A short-lived token that goes from its issuer's program straight back to its issuer.

`aws ecr get-login-password | docker login --password-stdin …` shows nothing and sends the token only to whom
it came from; so does a request to the issuer's own interface with the token in a header. Any other host,
reader or detour is a secret that is printed or sent, as always.
"""

from __future__ import annotations

import itertools
import re
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
# Where the same token is asked for by the issuer's own interface.
_ASKED: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "gh": ("api.github.com", "github.com", "uploads.github.com"),
        "az": ("management.azure.com", "graph.microsoft.com"),
    }
)
# What shows a request's headers, sends them to another host or reads more options from a file.
_LOUD: Final = re.compile(
    r"(?:^|\s)(?:-[a-zA-Z]*[vKxL]|--verbose|--trace\S*|--config|--proxy\S*|--location\S*|--preproxy|--next"
    r"|--connect-to|--resolve|--libcurl)(?:\s|=|$)"
)
_CLIENTS: Final = frozenset("docker podman nerdctl buildah helm skopeo crane oras".split())


def returns_to_issuer(subject: Subject, command: Command) -> bool:
    """Whether all that the command prints goes into a registry login at its own issuer."""
    issued = _ISSUERS.get(command.program, ())
    if not issued:
        return False
    flows = [flow for flow in subject.facts.flows if flow.from_command == command.id]
    return bool(flows) and all(
        (flow.sink is End.STDIN and _logs_in_at(subject.facts.command(flow.to_command), issued))
        or (flow.sink is End.PROCESS and _asks_at(subject, flow.to_command, _ASKED.get(command.program, ())))
        for flow in flows
    )


def _asks_at(subject: Subject, command_id: int, hosts: tuple[str, ...]) -> bool:
    """A request with the token in its login header, to nobody but the issuer, that shows nothing."""
    command = subject.facts.command(command_id)
    if command is None or command.program != "curl" or _LOUD.search(" ".join(command.argv)):
        return False
    if "_proxy=" in subject.text.lower():
        return False
    for before, word in itertools.pairwise(command.argv):
        if "\0" in word and not (before in ("-H", "--header") and word.lower().startswith("authorization:")):
            return False
    peers = [fact for fact in subject.facts.network if fact.command_id == command_id]
    return bool(peers) and all(
        (fact.normalized_host or fact.host.lower()) in hosts and fact.scheme != "http" for fact in peers
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
