"""How bytes move between files, processes and the network."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Final

from latch_contracts.facts import Access, Argument, DataFlow, End, Redirect
from latchd.shell.grammar import Context, Description, network_fact
from latchd.shell.grammar.places import resolve
from latchd.shell.listing import Listing, Raw
from latchd.shell.redirects_facts import redirect_contact, redirect_target

MAX_FLOWS: Final = 256


def trace(listing: Listing, described: Sequence[Description], home: str) -> tuple[DataFlow, ...]:
    """All flows of the listing, in order, once each."""
    found: dict[DataFlow, None] = {}
    for edge in listing.edges:
        found[DataFlow(edge.source, edge.target, End.STDOUT, edge.end)] = None
    for raw, description in zip(listing.commands, described, strict=True):
        context = Context(raw.places[0] if raw.places and not raw.remote else "", "" if raw.remote else home)
        for flow in itertools.chain(_operand_flows(raw, description, context), _redirect_flows(raw, context)):
            found[flow] = None
            if len(found) > MAX_FLOWS:  # no more are listed; each file with each host is a square of them
                return tuple(found)
    return tuple(found)


def _path(word: Argument, context: Context) -> str:
    return resolve(word, context) or word.value


def _operand_flows(raw: Raw, description: Description, context: Context) -> Iterator[DataFlow]:
    sent = {word.value for word in description.uploads}
    saved = {word.value for word in description.saves}
    hosts = list(dict.fromkeys(network_fact(raw.id, contact).host for contact in description.contacts)) or [
        ""
    ]
    for target in description.targets:
        path = _path(target.word, context)
        if target.access is Access.READ:
            yield DataFlow(0, raw.id, End.FILE, End.PROCESS, source_path=path)
        elif target.access in (Access.WRITE, Access.APPEND):
            yield DataFlow(raw.id, 0, End.PROCESS, End.FILE, sink_path=path)
        if target.word.value in sent:
            yield from (DataFlow(0, 0, End.FILE, End.NETWORK, source_path=path, host=host) for host in hosts)
        if target.word.value in saved:
            yield from (DataFlow(0, 0, End.NETWORK, End.FILE, sink_path=path, host=host) for host in hosts)
    if not description.contacts:
        return
    if sent or "stdin-upload" in description.details:
        yield from (DataFlow(raw.id, 0, End.PROCESS, End.NETWORK, host=host) for host in hosts)
    if saved or "stdout-download" in description.details:
        yield from (DataFlow(0, raw.id, End.NETWORK, End.PROCESS, host=host) for host in hosts)


def _redirect_flows(raw: Raw, context: Context) -> list[DataFlow]:
    flows: list[DataFlow] = []
    own = {_stream(redirect) for redirect in raw.redirects}
    outer = [
        redirect for redirect in raw.scope.enclosing if _stream(redirect) not in own and not raw.out_piped
    ]
    for redirect in (*raw.redirects, *outer):
        contact, target = redirect_contact(redirect), redirect_target(redirect)
        reads = redirect.access is Access.READ
        if contact is not None:
            host = network_fact(raw.id, contact).host
            if reads:
                flows.append(DataFlow(0, raw.id, End.NETWORK, End.STDIN, host=host))
            else:
                flows.append(DataFlow(raw.id, 0, End.STDOUT, End.NETWORK, host=host))
        elif target is not None and redirect.target != "/dev/null":
            path = _path(target.word, context)
            if reads:
                flows.append(DataFlow(0, raw.id, End.FILE, End.STDIN, source_path=path))
            elif redirect.fd in (1, -1):
                flows.append(DataFlow(raw.id, 0, End.STDOUT, End.FILE, sink_path=path))
            else:
                flows.append(DataFlow(raw.id, 0, End.PROCESS, End.FILE, sink_path=path))
    return flows


def _stream(redirect: Redirect) -> int:
    return 0 if redirect.access is Access.READ else 1 if redirect.fd in (1, -1) else redirect.fd
