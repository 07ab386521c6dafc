"""From one call's facts to the chain steps it is: what is seen, and what of it may enforce.

A step is seen when an acting command shows it. It may enforce only when the facts are complete and
every command of the call acts: doubt detects, it never blocks. A first step has to be sure to run,
for a call's success proves nothing of a branch it may not have taken; a second one need only be able to.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from latch_contracts.facts import (
    ActionFacts,
    Command,
    Effect,
    End,
    NetAction,
    Operation,
    Reach,
)
from latchd.chains.catalogue import DETECTION_ONLY, NOTHING, SECOND_STEPS, Step
from latchd.chains.content import NO_FLOWS, Flows
from latchd.chains.sources import STREAMS, feeds, is_external, of_path, of_program, read_paths
from latchd.chains.taint import flows

_SHELLS: Final = frozenset("sh bash dash zsh ksh mksh fish csh tcsh ash".split())
_RAISERS: Final = frozenset("sudo doas su pkexec runuser".split())
_SYSTEM_ROOTS: Final = ("/", "/usr", "/bin", "/sbin", "/opt", "/usr/bin", "/usr/sbin", "/usr/local")
_RUNTIME_SOCKETS: Final = ("docker.sock", "containerd.sock", "podman.sock", "crio.sock")


class Projection(msgspec.Struct, frozen=True):
    """``enforcement`` is always a part of ``detection``. ``flows``: what it moves between files and out."""

    detection: Step = NOTHING
    enforcement: Step = NOTHING
    flows: Flows = NO_FLOWS

    def with_script(self, inner: Projection, *, sure: bool) -> Projection:
        """With the steps of a script the call runs; only one that is sure to run may enforce."""
        return Projection(
            self.detection | inner.detection,
            self.enforcement | (inner.enforcement if sure else NOTHING),
            self.flows.joined(inner.flows, sure=sure),
        )


def project(facts: ActionFacts) -> Projection:
    """The steps of one call."""
    seen = exact = NOTHING
    for command in facts.commands:
        if command.effect is Effect.PREVIEW:
            continue
        for step in _steps(facts, command):
            seen |= step
            if command.reach is Reach.ALWAYS or step in SECOND_STEPS:
                exact |= step
    enforcing = exact & ~DETECTION_ONLY if facts.enforcement_eligible else NOTHING
    return Projection(seen, enforcing, flows(facts))


def denied(*, matched: bool) -> Projection:
    """The agent's own typed denial; exact only when it names a call that was proposed."""
    return Projection(Step.PERMISSION_DENIED, Step.PERMISSION_DENIED if matched else NOTHING)


def _steps(facts: ActionFacts, command: Command) -> Iterator[Step]:
    if Operation.POLICY_BYPASS in command.operations:
        yield Step.RUNTIME_BYPASS
    if _discovers(facts, command):
        yield Step.PRIVILEGE_DISCOVERY
    if _elevates(facts, command):
        yield Step.PRIVILEGE_ELEVATION
    if step := of_program(command):
        yield step
    for path in read_paths(facts, command):
        # each step by itself: what may enforce is decided step by step
        yield from of_path(path, facts.home)
    if _sends_out(facts, command):
        yield Step.EGRESS
    if Operation.WORKLOAD_EXEC in command.operations:
        yield Step.LATERAL_EXECUTION


def _discovers(facts: ActionFacts, command: Command) -> bool:
    """sudo -l, a search for set-id files from a system root, getcap -r."""
    words = command.argv[1:]
    match command.program:
        case "sudo" | "doas":
            return "probe" in command.details and any(
                word in ("--list", "-ll") or (word.startswith("-") and word[1:2] != "-" and "l" in word[1:])
                for word in words
            )
        case "find" | "gfind":
            wanted = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-perm"]
            return any(_is_set_id(mode) for mode in wanted) and any(
                fact.resolved in _SYSTEM_ROOTS for fact in facts.paths if fact.command_id == command.id
            )
        case "getcap":
            return any(word.startswith("-") and "r" in word for word in words)
        case _:
            return False


def _is_set_id(mode: str) -> bool:
    """A find mode that asks for set-user-id or set-group-id, in digits or letters."""
    bare = mode.lstrip("-/+")
    if bare.isdigit():
        return len(bare) >= 4 and int(bare[-4]) & 6 != 0
    return any(part.startswith(("u", "g", "a", "+", "=")) and "s" in part for part in bare.split(","))


def _elevates(facts: ActionFacts, command: Command) -> bool:
    """A shell behind a program that raises rights, the host's namespaces, or a runtime's socket."""
    wrappers = [wrapper.executable.rpartition("/")[2] for wrapper in command.wrappers]
    is_shell = command.program in _SHELLS and "interactive" in command.details
    if is_shell and any(wrapper in _RAISERS for wrapper in wrappers):
        return True
    if command.program in ("su", "runuser") and "interactive" in command.details:
        return True
    if command.program == "sudo" and "interactive" in command.details:
        # sudo -s and -i are a shell; sudo -V and the like only ask sudo itself
        return any(
            word in ("-s", "-i", "--shell", "--login") or _cluster(word, "si") for word in command.argv[1:]
        )
    if Operation.NAMESPACE_ENTER in command.operations:
        words = command.argv[1:]
        return any(
            word in ("-t1", "--target=1") or (word in ("-t", "--target") and words[at + 1 : at + 2] == ("1",))
            for at, word in enumerate(words)
        )
    return any(path.rpartition("/")[2] in _RUNTIME_SOCKETS for path in _touched(facts, command))


def _cluster(word: str, letters: str) -> bool:
    return (
        len(word) > 1 and word[0] == "-" and word[1] != "-" and any(letter in word[1:] for letter in letters)
    )


def _sends_out(facts: ActionFacts, command: Command) -> bool:
    """Data goes to a peer outside: files, input or values, not a literal and not the name of a host."""
    peers = [fact for fact in facts.network if fact.command_id == command.id]
    if not peers:  # a store, a registry or a service that the program knows by its own configuration
        return Operation.UPLOAD in command.operations
    outside = [fact for fact in peers if is_external(fact)]
    values = any("\0" in word for word in command.argv[1:])
    out = [
        flow
        for flow in facts.flows
        if flow.sink is End.NETWORK and command.id in (flow.from_command, flow.to_command)
    ]
    if any(fact.action is NetAction.UPLOAD for fact in outside):
        return bool(out) or values or command.program == "git"  # a push sends what was committed
    if not outside:
        return False
    fed = any(True for _ in feeds(facts, command))
    if command.program in STREAMS and fed:
        return True
    # a redirection into a connection: of more than a literal
    redirected = any(flow.source is End.STDOUT for flow in out)
    return redirected and (fed or values or any(True for _ in read_paths(facts, command)))


def _touched(facts: ActionFacts, command: Command) -> Iterator[str]:
    for fact in facts.paths:
        if fact.command_id == command.id and fact.resolved:
            yield fact.resolved
