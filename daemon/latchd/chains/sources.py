"""Where secrets come from and what takes data out, by facts alone: one answer for steps and for flows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Access, ActionFacts, Command, DataFlow, End, NetworkFact, Operation, Scope
from latchd.chains.catalogue import NOTHING, Step
from latchd.guard.places import credential

# Programs whose credential reads are a secrets manager's. Printers of other credentials (a login
# token, a key ring) are no managed secret.
_SECRET_MANAGERS: Final = frozenset(
    "aws gcloud az vault bao op bw doppler infisical chamber conjur akeyless sops lpass".split()
)
# Programs that hand what they are fed to their peer. Others, as sftp and psql, read their own commands there.
STREAMS: Final = frozenset(("ssh", "dbclient", "telnet", "socat", "openssl"))
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


def feeds(facts: ActionFacts, command: Command) -> Iterator[DataFlow]:
    """What the command is given on its standard input; a device is nothing."""
    for flow in facts.flows:
        fed = flow.to_command == command.id and flow.sink is End.STDIN and flow.from_command != command.id
        if fed and not flow.source_path.startswith("/dev/"):
            yield flow


def is_external(fact: NetworkFact) -> bool:
    """A public address, or a name that is not this machine's own. A peer that is not known is none."""
    if fact.scope is Scope.PUBLIC:
        return True
    return fact.scope is Scope.UNKNOWN and bool(fact.host) and not fact.expands
