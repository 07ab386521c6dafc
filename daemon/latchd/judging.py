"""From one proposal to its verdict: facts, the files they touch, the walk. Reads the disk, writes nothing."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Mapping

import msgspec

from latch_contracts.canonical import digest
from latch_contracts.contract import Compatibility, Contract, Level, Surface
from latch_contracts.events import Call, HookEvent
from latch_contracts.facts import ActionFacts, Issue, Status
from latch_contracts.verdict import Action, Disposition, Finding, Severity, Verdict
from latchd import disk
from latchd.chains.projection import Projection, project
from latchd.files import FileView, Stamp, probe_list
from latchd.guard.groups import Group
from latchd.guard.rules import RULES, SELF_PROTECTION
from latchd.guard.subject import Subject
from latchd.guard.walk import judge, without_ask
from latchd.policy import Policy, PolicyError, Profile, fingerprint
from latchd.projects import Projects
from latchd.release import VERSION
from latchd.scripts import with_scripts
from latchd.store.database import StoreError
from latchd.tool_facts import facts_of
from latchd.views import operation_mask

_VERSIONS = 64  # agent versions remembered; a machine has one or two
_FILE_TOOLS = frozenset({Surface.READ, Surface.WRITE, Surface.EDIT, Surface.PATCH})
# The rules that judge are this release's; another one may judge the same call otherwise.
_CATALOGUE = digest(
    [VERSION, *([rule.id, rule.group, rule.severity, rule.title] for rule in (*SELF_PROTECTION, *RULES))]
)
_stamps = msgspec.msgpack.Decoder(Stamp)


class Judged(msgspec.Struct, frozen=True):
    """A verdict and what it stands on.

    ``operations`` is the mask of what the facts say is done, ``projection`` the chain steps it is.
    """

    verdict: Verdict
    facts: ActionFacts
    operations: int
    projection: Projection = Projection()


class Judge:
    """Judges under one policy. ``home`` is the home of the user that agents run as: the daemon's own."""

    def __init__(self, policy: Policy, home: str) -> None:
        self._home = home
        self._policy = policy
        self._projects = Projects(policy)

    def judge(self, event: HookEvent, seen: Callable[[str], bytes | None], contract: Contract) -> Judged:
        """The verdict on one proposal. ``seen(path)`` gives the stamp that the session knows of a file.

        INVARIANT (a throw is a deny): whatever fails in here is a refusal that names it, not an open
        door; only StoreError comes through, because the caller has an answer of its own for that.
        """
        try:
            return self._judged(event, seen, contract)
        except StoreError:
            raise
        except Exception as error:
            facts = ActionFacts(event.the_call.tool, Status.INVALID, issues=(Issue.INTERNAL_PARSER_FAILURE,))
            what = type(error).__name__
            verdict = floor_verdict("analyzer-error", f"judging this call failed ({what})", self._policy)
            return Judged(verdict, facts, 0)

    def _judged(self, event: HookEvent, seen: Callable[[str], bytes | None], contract: Contract) -> Judged:
        call = event.the_call
        facts = facts_of(call, cwd=event.cwd, home=self._home)
        operations = operation_mask(
            frozenset(operation for command in facts.commands for operation in command.operations)
        )
        try:
            policy = self._projects.policy_at(event.cwd)
        except PolicyError as error:
            why = f"the project's policy can't be used: {error}"
            verdict = floor_verdict("project-policy", why, self._policy)
            return Judged(verdict, facts, operations)
        files = dict(disk.views(probe_list(call, facts, policy.write_roots)))
        if contract.level is Level.PAIRED:
            files |= _remembered(call, event.cwd, files, seen)
        verdict = judge(Subject(event, facts, files, policy))
        verdict, projection = with_scripts(verdict, project(facts), event, facts, policy)
        if not contract.native_ask:
            verdict = without_ask(verdict, policy.ask_fallback)
        return Judged(verdict, facts, operations, projection)


def floor_verdict(name: str, why: str, policy: Policy) -> Verdict:
    """A refusal that no participant gave; under `observe` it is only told, like all that is found."""
    rule = f"floor.{name}"
    reason = f"[{rule}]: {why}."
    if policy.profile is Profile.OBSERVE:
        found = Finding(rule, Group.FLOOR, Severity.CRITICAL, reason, disposition=Disposition.DETECT)
        return Verdict(action=Action.ALLOW, findings=(found,))
    return Verdict(action=Action.DENY, rule=rule, participant="floor", reason=reason)


def known_paths(call: Call, cwd: str) -> tuple[str, ...]:
    """The files whose state a proven result of this call makes known, as absolute paths."""
    if call.surface not in _FILE_TOOLS:
        return ()
    return tuple(posixpath.normpath(posixpath.join(cwd or "/", path)) for path in call.paths)


class Bindings:
    """What a pending call is bound to: when any of it changes, its result promotes nothing."""

    def __init__(self, policy: Policy) -> None:
        self._policy = fingerprint(policy)
        self._known: dict[tuple[str, int, str], bytes] = {}

    def of(self, contract: Contract, version: str) -> bytes:
        """32 bytes over policy, rules, contract and the agent's version (where the contract knows it)."""
        compatibility = contract.compatibility(version)
        told = version if compatibility is Compatibility.KNOWN else compatibility.value
        key = (contract.contract_id, contract.revision, told)
        if key not in self._known:
            if len(self._known) >= _VERSIONS:
                self._known.clear()
            self._known[key] = digest([self._policy, _CATALOGUE, contract.fingerprint_source(), told])
        return self._known[key]


def _remembered(
    call: Call, cwd: str, files: Mapping[str, FileView], seen: Callable[[str], bytes | None]
) -> dict[str, FileView]:
    """The views of the files this call is about, with what the session knows of them."""
    remembered: dict[str, FileView] = {}
    for path in known_paths(call, cwd):
        view = files.get(path)
        if view is not None:
            stamp = seen(path)
            remembered[path] = view.seen_as(None if stamp is None else _stamps.decode(stamp))
    return remembered
