"""Shell text → ActionFacts: gates, parse, audit, structure, unwrapping, grammar, flows.

Complete means that no command bash would run is missing. Whatever spoils that is an issue, and with
an issue the status is less than complete.
"""

from __future__ import annotations

import itertools
import posixpath
from typing import Final

import msgspec

from latch_contracts.facts import (
    Access,
    ActionFacts,
    Command,
    Dialect,
    Effect,
    Grammar,
    Issue,
    Kind,
    NetworkFact,
    Operation,
    PathFact,
    Status,
)
from latchd.shell import flows, structure
from latchd.shell.child import is_open, program_name, suspected_tail
from latchd.shell.dormant import list_dormant
from latchd.shell.grammar import (
    Context,
    Description,
    Target,
    code_source,
    describe,
    network_fact,
    path_fact,
)
from latchd.shell.launcher_tables import LAUNCHERS
from latchd.shell.listing import LIMITS, Full, Listing, Raw, Scope
from latchd.shell.parse import HOLE, from_bytes_view, to_bytes_view
from latchd.shell.redirects_facts import redirect_contact, redirect_operations, redirect_target
from latchd.shell.variables import Variables
from latchd.shell.wrappers import SHELLS, WRAPPERS

MAX_PATHS: Final = 256
MAX_NETWORK: Final = 128
MAX_ISSUES: Final = 8
TRUSTED: Final = frozenset(
    {
        "/bin",
        "/sbin",
        "/usr/bin",
        "/usr/sbin",
        "/usr/local/bin",
        "/usr/local/sbin",
        "/opt/homebrew/bin",
        "/snap/bin",
    }
)
_INVALID: Final = frozenset({Issue.INVALID_SYNTAX, Issue.INVALID_UTF8, Issue.CONTROL_BYTES})


def analyze(command: str, *, cwd: str = "", home: str = "") -> ActionFacts:
    """The facts of one shell text. Never raises.

    ``cwd`` and ``home`` are absolute paths or empty when not known; no disk is read.
    """
    try:
        return _analyze(command, cwd, home)
    except RecursionError:
        return _nothing(Status.LIMIT_EXCEEDED, Issue.DEPTH_LIMIT, cwd, home)
    except Exception:
        return _nothing(Status.INVALID, Issue.INTERNAL_PARSER_FAILURE, cwd, home)
    finally:
        code_source.forget()


def _nothing(status: Status, issue: Issue, cwd: str, home: str) -> ActionFacts:
    return ActionFacts("shell", status, cwd, home, Dialect.POSIX, (issue,))


def _analyze(command: str, cwd: str, home: str) -> ActionFacts:
    if not command.strip(" \t\n"):
        return ActionFacts("shell", Status.NOT_APPLICABLE, cwd, home, Dialect.POSIX)
    text = to_bytes_view(command)
    if text is None:
        return _nothing(Status.INVALID, Issue.INVALID_UTF8, cwd, home)
    listing = Listing(
        lambda program, node, scope, variables: structure.run(listing, program, node, scope, variables)
    )
    variables = Variables(home, (posixpath.normpath(cwd),) if cwd.startswith("/") else ())
    try:
        listing.text(text, Scope(), variables)
        listing.list_functions()
        list_dormant(listing)
    except Full:
        pass
    if listing.any_alias or any(_is_alias(raw, listing.aliases) for raw in listing.commands):
        listing.note(Issue.DYNAMIC_WORD)
    return _facts(listing, cwd, home)


def _is_alias(raw: Raw, aliases: set[str]) -> bool:
    return bool(raw.words) and raw.words[0].value in aliases


def _facts(listing: Listing, cwd: str, home: str) -> ActionFacts:
    commands: list[Command] = []
    paths: dict[PathFact, None] = {}
    network: dict[NetworkFact, None] = {}
    described: list[Description] = []
    for raw in listing.commands:
        context = _context(raw, home)
        description = _describe(raw, context)
        described.append(description)
        commands.append(_command(raw, description))
        for place in raw.places or ("",):
            here = Context(place, context.home, context.piped) if not raw.remote else context
            redirected = filter(None, map(redirect_target, raw.redirects))
            for target in (*_run_by_path(raw), *description.targets, *redirected):
                paths[path_fact(raw.id, target, here)] = None
        for contact in (*description.contacts, *filter(None, map(redirect_contact, raw.redirects))):
            network[network_fact(raw.id, contact)] = None
    moved = flows.trace(listing, described, home)
    if len(paths) > MAX_PATHS or len(network) > MAX_NETWORK or len(moved) > flows.MAX_FLOWS:
        listing.note(Issue.FACT_LIMIT)
    return ActionFacts(
        "shell",
        _status(listing),
        cwd,
        home,
        Dialect.POSIX,
        tuple(listing.issues)[:MAX_ISSUES],
        tuple(commands),
        tuple(paths)[:MAX_PATHS],
        tuple(network)[:MAX_NETWORK],
        moved[: flows.MAX_FLOWS],
    )


def _run_by_path(raw: Raw) -> tuple[Target, ...]:
    """The file that a command word names by its path, where that is no program of the system."""
    return (Target(Access.EXECUTE, raw.words[0]),) if _is_own_path(raw) else ()


def _is_own_path(raw: Raw) -> bool:
    if not raw.words or raw.words[0].expands or raw.words[0].globs:
        return False
    directory = posixpath.dirname(raw.words[0].value)
    return bool(directory) and directory not in TRUSTED


def _context(raw: Raw, home: str) -> Context:
    given, text = raw.stdin.given, raw.stdin.text
    if text is not None:
        text = from_bytes_view(text.replace(HOLE, "\0"))
    if raw.remote:
        return Context("", "", given, text)
    return Context(raw.places[0] if raw.places else "", home, given, text)


def _describe(raw: Raw, context: Context) -> Description:
    if not raw.words or is_open(raw.words[0]):
        return Description(known=raw.kind is Kind.SHELL_REDIRECT)
    found = describe(program_name(raw.words[0].value), raw.words[1:], context)
    if len(found.targets) > MAX_PATHS:  # of more than are kept no further one needs a fact
        targets = itertools.islice(dict.fromkeys(found.targets), MAX_PATHS + 1)
        found = msgspec.structs.replace(found, targets=tuple(targets))
    return found


def _command(raw: Raw, description: Description) -> Command:
    words = raw.words
    executable = words[0].value if words else ""
    named = bool(words) and not is_open(words[0]) and bool(program_name(executable))
    operations = list(description.operations)
    if raw.kind is Kind.PROCESS and not operations and not description.known:
        operations.append(Operation.EXECUTE)
    if raw.runs_input:
        operations.append(Operation.RUN_INPUT)
    operations += redirect_operations(raw.redirects)
    details = (*description.details, *raw.details)
    if _is_own_path(raw):
        details = (*details, "untrusted-path")
    effect = description.effect
    if raw.kind is Kind.PROCESS and not named:
        effect = Effect.UNCERTAIN
    return Command(
        raw.id,
        program_name(executable) if named else "",
        executable,
        tuple(word.value for word in words),
        words,
        not any(word.expands for word in words),
        raw.scope.parent,
        raw.scope.pipeline,
        raw.kind,
        effect,
        raw.scope.reach,
        tuple(dict.fromkeys(operations)),
        raw.redirects,
        raw.wrappers,
        Grammar.KNOWN if description.known and named else Grammar.UNKNOWN,
        raw.suspected or ("" if description.known or not named else _suspected(raw)),
        tuple(dict.fromkeys(details)),
    )


def _suspected(raw: Raw) -> str:
    name = program_name(raw.words[0].value)
    return "" if name in WRAPPERS or name in SHELLS or name in LAUNCHERS else suspected_tail(raw.words)


def _status(listing: Listing) -> Status:
    issues = set(listing.issues)
    if issues & LIMITS:
        return Status.LIMIT_EXCEEDED
    if issues & _INVALID:
        return Status.INVALID
    if issues:
        return Status.PARTIAL
    return Status.COMPLETE
