"""What must stand in the facts of a dangerous command, by the kind of danger. Data, and one look-up."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from latch_contracts.facts import Access, ActionFacts, Command, Effect, Operation

Predicate = Callable[[ActionFacts], bool]


def acting(facts: ActionFacts) -> list[Command]:
    return [command for command in facts.commands if command.effect is not Effect.PREVIEW]


def does(*operations: Operation) -> Predicate:
    """Some command that acts has one of the operations."""
    wanted = frozenset(operations)
    return lambda facts: any(wanted & set(command.operations) for command in acting(facts))


def touches(*accesses: Access) -> Predicate:
    """Some command that acts touches a file in one of these ways."""
    wanted = frozenset(accesses)
    return lambda facts: any(
        fact.access in wanted and fact.command_id in {0, *(command.id for command in acting(facts))}
        for fact in facts.paths
    )


def detail(*details: str) -> Predicate:
    wanted = frozenset(details)
    return lambda facts: any(wanted & set(command.details) for command in acting(facts))


def either(*predicates: Predicate) -> Predicate:
    return lambda facts: any(predicate(facts) for predicate in predicates)


def both(*predicates: Predicate) -> Predicate:
    return lambda facts: all(predicate(facts) for predicate in predicates)


def flows_into_a_program(facts: ActionFacts) -> bool:
    """What one command writes, another runs: through a pipe, as words, or as a file."""
    runs = {command.id for command in acting(facts) if Operation.RUN_INPUT in command.operations}
    runs |= {command.id for command in acting(facts) if Operation.EXECUTE in command.operations}
    if any(flow.from_command and flow.to_command in runs for flow in facts.flows):
        return True
    written = {fact.resolved for fact in facts.paths if fact.access in (Access.WRITE, Access.APPEND)}
    run = {fact.resolved for fact in facts.paths if fact.access is Access.EXECUTE}
    return bool({*written} & {*run} - {""})


WRITES: Final = touches(Access.WRITE, Access.APPEND, Access.DELETE)

# The categories of the semantic corpus.
CATEGORIES: Final[Mapping[str, Predicate]] = {
    "secret_read": either(
        touches(Access.READ),
        does(Operation.CREDENTIAL_READ, Operation.ENVIRONMENT_READ, Operation.FETCH),
    ),
    "secret_manager_read": does(Operation.CREDENTIAL_READ),
    "persistence": either(
        WRITES, does(Operation.SCHEDULE, Operation.ACCOUNT_CHANGE, Operation.CONFIG_CHANGE)
    ),
    "download_exec": both(
        does(Operation.FETCH, Operation.CONNECT), either(does(Operation.RUN_INPUT), flows_into_a_program)
    ),
    "decode_exec": both(does(Operation.DECODE), either(does(Operation.RUN_INPUT), flows_into_a_program)),
    "privilege": either(
        does(
            Operation.PRIVILEGE,
            Operation.PERMISSION_CHANGE,
            Operation.CONTAINER_RUN,
            Operation.NAMESPACE_ENTER,
            Operation.ROOT_CHANGE,
        ),
        touches(Access.CONNECT),
    ),
    "source_control": either(WRITES, does(Operation.CONFIG_CHANGE)),
    "exfiltration": does(Operation.UPLOAD, Operation.CONNECT, Operation.FETCH),
    "integrity": either(WRITES, detail("history-tamper"), does(Operation.CONFIG_CHANGE)),
    "agent_tamper": WRITES,
    "destructive": does(Operation.DELETE, Operation.DISK_WRITE, Operation.WORK_LOSS),
    "impact": either(does(Operation.PROCESS_KILL, Operation.CONTAINER_RUN), detail("fork-bomb", "miner")),
    "reverse_shell": both(
        does(Operation.CONNECT, Operation.LISTEN),
        either(detail("shell-child"), does(Operation.EXECUTE, Operation.RUN_INPUT)),
    ),
    "tunnel": does(Operation.TUNNEL),
    "agent_runtime_bypass": does(Operation.POLICY_BYPASS),
    "lateral": does(Operation.WORKLOAD_EXEC),
    "recon": does(Operation.NETWORK_SCAN, Operation.FETCH),
}

# Where a corpus does not say which danger it means: whatever changes, sends, reads or runs something.
ANY_DANGER: Final = either(
    touches(Access.READ, Access.WRITE, Access.APPEND, Access.DELETE, Access.EXECUTE),
    does(*(set(Operation) - {Operation.EXECUTE, Operation.LIST, Operation.SEARCH, Operation.READ})),
    detail("database-loss", "cloud-loss", "infra-loss", "container-loss", "cluster-loss", "halt"),
)
