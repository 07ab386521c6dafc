"""Where secrets come from, as far as a command's facts prove it: one answer for steps and for flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, ActionFacts, Command, NetworkFact, Operation, Scope
from latchd.chains.catalogue import NOTHING, Step
from latchd.guard.places import credential

# Programs whose credential reads are a secrets manager's. Printers of other credentials (a login
# token, a key ring) are no managed secret.
_SECRET_MANAGERS: Final = frozenset(
    "aws gcloud az vault bao op bw doppler infisical chamber conjur akeyless sops lpass".split()
)
_TOKEN_ROOTS: Final = ("/var/run/secrets/", "/run/secrets/kubernetes.io/")


def of_path(path: str, home: str) -> Step:
    """The first steps that reading this absolute path is."""
    step = Step.IDENTITY_READ if path.startswith(_TOKEN_ROOTS) else NOTHING
    return step | Step.SECRET_READ if credential(path, home) else step


def of_program(command: Command) -> Step:
    """The first step that a command is by what it prints, whatever files it reads."""
    managed = Operation.CREDENTIAL_READ in command.operations and command.program in _SECRET_MANAGERS
    return Step.SECRET_MANAGER_READ if managed else NOTHING


def read_paths(facts: ActionFacts, command: Command) -> Iterator[str]:
    for fact in facts.paths:
        if fact.command_id == command.id and fact.access is Access.READ and fact.resolved:
            yield fact.resolved


def is_external(fact: NetworkFact) -> bool:
    """A public address, or a name that is not this machine's own. A peer that is not known is none."""
    if fact.scope is Scope.PUBLIC:
        return True
    return fact.scope is Scope.UNKNOWN and bool(fact.host) and not fact.expands
