"""ActionFacts drawn for a person: one block per command that can run, then what flows between them."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from typing import Final

from latch_client.doubts import ISSUES, STATUS
from latch_client.output import table
from latch_client.paint import Paint, Style, printable
from latch_contracts.facts import (
    ActionFacts,
    Command,
    DataFlow,
    Effect,
    End,
    Grammar,
    Kind,
    NetworkFact,
    PathFact,
    Reach,
    Scope,
)

_REACH: Final[Mapping[Reach, str]] = {
    Reach.ALWAYS: "always",
    Reach.CONDITIONAL: "depends on what comes before",
    Reach.BACKGROUND: "in the background",
    Reach.DEFERRED: "later, from a function or a trap",
}

_SCOPE: Final[Mapping[Scope, str]] = {Scope.UNKNOWN: "a name; where it leads is not known"}
_NEEDS_QUOTES: Final = re.compile(r"[\s'\";&|<>()`\\]")


def facts_lines(facts: ActionFacts, paint: Paint) -> Iterator[str]:
    """The whole drawing. Dynamic parts of words are shown as `…`."""
    about = [("cwd", shown(facts.cwd)), ("home", shown(facts.home))]
    about.append(("facts", f"{facts.status.value}: {STATUS[facts.status]}"))
    about += [("doubt", f"{issue.value}: {ISSUES[issue]}") for issue in facts.issues]
    yield from table([(name, value or "not known") for name, value in about])
    for command in facts.commands:
        yield ""
        yield paint(f"{command.id:>2}  {shown(text_of(command))}", Style.STRONG)
        yield from table(list(_command(command, facts)), indent="    ")
    whole = list(_touched(0, facts))
    if whole:
        yield ""
        yield "    the call as a whole"
        yield from table(whole, indent="    ")
    if facts.flows:
        yield ""
        yield "flows"
        for flow in facts.flows:
            yield f"    {_source(flow)} → {_sink(flow)}"


def text_of(command: Command) -> str:
    """The command as one line; its redirections when it is nothing else."""
    if command.argv:
        return " ".join(map(_word, command.argv))
    return " ".join(f"> {redirect.target}" for redirect in command.redirects) or command.executable


def _word(word: str) -> str:
    """A word as it would have to be typed; patterns stay as they are."""
    return word if word and not _NEEDS_QUOTES.search(word) else shlex.quote(word)


def shown(text: str) -> str:
    """Text from a command, safe for a terminal; each dynamic part is `…`."""
    return printable(text.replace("\0", "…"))


def _command(command: Command, facts: ActionFacts) -> Iterator[tuple[str, str]]:
    if command.kind is not Kind.TOOL:
        yield "runs", _REACH[command.reach]
    if command.parent and not command.wrappers:
        yield "part of", str(command.parent)
    if command.wrappers:
        yield "inside", shown(" → ".join(" ".join(wrapper.argv) for wrapper in command.wrappers))
    nothing = "nothing of note" if command.grammar is Grammar.KNOWN else "nothing known"
    does = ", ".join(operation.value for operation in command.operations) or nothing
    if command.details:
        does += f" ({', '.join(command.details)})"
    if command.effect is not Effect.EXECUTE:
        does += f", {'only shows' if command.effect is Effect.PREVIEW else 'perhaps'}"
    yield "does", printable(does)
    yield from _touched(command.id, facts)
    for doubt in _doubts(command):
        yield "doubt", shown(doubt)


def _touched(command_id: int, facts: ActionFacts) -> Iterator[tuple[str, str]]:
    for path in facts.paths:
        if path.command_id == command_id:
            yield path.access.value, shown(_path(path))
    for contact in facts.network:
        if contact.command_id == command_id:
            yield contact.action.value, shown(_contact(contact))


def _path(path: PathFact) -> str:
    text = path.resolved or path.normalized or path.value
    remarks = [
        remark
        for remark, holds in (
            ("with all below it", path.recursive),
            ("a pattern", path.globs),
            ("not known before it runs", path.expands or not path.resolved),
        )
        if holds
    ]
    return f"{text} ({', '.join(remarks)})" if remarks else text


def _contact(contact: NetworkFact) -> str:
    host = contact.host or "a host that is not known"
    scheme = f"{contact.scheme}://" if contact.scheme else ""
    port = f":{contact.port}" if contact.port else ""
    return f"{scheme}{host}{port} ({_SCOPE.get(contact.scope, contact.scope.value)})"


def _doubts(command: Command) -> Iterator[str]:
    if command.kind is Kind.PROCESS and not command.program:
        yield "which program this is can't be told"
    elif command.grammar is Grammar.UNKNOWN and command.kind is Kind.PROCESS:
        yield f"what the arguments of {command.program} mean is not known"
    if not command.argv_complete:
        yield "some words are not known before it runs"
    if command.suspected_child:
        yield f"may start {command.suspected_child}"


def _source(flow: DataFlow) -> str:
    return shown(_end(flow.source, flow.from_command, flow.source_path, flow.host))


def _sink(flow: DataFlow) -> str:
    return shown(_end(flow.sink, flow.to_command, flow.sink_path, flow.host))


def _end(end: End, command_id: int, path: str, host: str) -> str:
    match end:
        case End.FILE:
            return path or "a file that is not known"
        case End.NETWORK:
            return host or "a host that is not known"
        case _:
            return f"{end.value} of {command_id}" if command_id else end.value
