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
from latchd.guard.pace import Pace
from latchd.guard.subject import Subject
from latchd.guard.walk import judge, without_ask
from latchd.hanging import Unanswered
from latchd.policy import Policy, PolicyError, Profile, fingerprint
from latchd.projects import Projects
from latchd.rules.bundled import without
from latchd.rules.generation import Generation
from latchd.scripts import with_scripts
from latchd.store.errors import StoreError
from latchd.tool_facts import facts_of
from latchd.views import operation_mask

_VERSIONS = 64  # agent versions remembered; a machine has one or two
_FILE_TOOLS = frozenset({Surface.READ, Surface.WRITE, Surface.EDIT, Surface.PATCH})
_stamps = msgspec.msgpack.Decoder(Stamp)


class Judged(msgspec.Struct, frozen=True):
    """A verdict and what it stands on.

    ``operations`` is the mask of what the facts say is done, ``projection`` the chain steps it is.
    ``rules`` is the fingerprint of the rules that were asked, ``own`` what the project adds to the person's
    policy and rules (see :class:`latchd.projects.InForce`).
    """

    verdict: Verdict
    facts: ActionFacts
    operations: int
    projection: Projection = Projection()
    rules: bytes = b""
    own: bytes = b""


class Judge:
    """Judges under one policy. ``home`` is the home of the user that agents run as: the daemon's own.

    ``rules`` are the person's, whole and unchanging; without any they are the release's. ``worked`` tells
    how long this thread has computed, in microseconds: what a participant's time is measured by.
    """

    def __init__(
        self,
        policy: Policy,
        home: str,
        rules: Generation | None = None,
        worked: Callable[[], int] = int,
    ) -> None:
        self._home = home
        self._worked = worked
        self._policy = policy
        self._projects = Projects(policy, rules_for(policy, rules))

    def judge(
        self,
        event: HookEvent,
        seen: Callable[[str], bytes | None],
        contract: Contract,
        lifted: frozenset[str] = frozenset(),
    ) -> Judged:
        """The verdict on one proposal. ``seen(path)`` gives the stamp that the session knows of a file.

        ``lifted`` are rules that the person lets this call break; see :mod:`latchd.allowances`.

        INVARIANT (a throw is a deny): whatever fails in here is a refusal that names it, not an open
        door; only StoreError comes through, because the caller has an answer of its own for that.
        """
        try:
            return self._judged(event, seen, contract, lifted)
        except StoreError:
            raise
        except Unanswered as error:
            # Where a path leads decides between inside and outside; a guess would be an open door.
            return self._unjudgeable(
                event, "disk-unanswered", f"what this call touches can't be told: {error}"
            )
        except Exception as error:
            return self._unjudgeable(
                event, "analyzer-error", f"judging this call failed ({type(error).__name__})"
            )

    def _unjudgeable(self, event: HookEvent, name: str, why: str) -> Judged:
        facts = ActionFacts(event.the_call.tool, Status.INVALID, issues=(Issue.INTERNAL_PARSER_FAILURE,))
        return Judged(floor_verdict(name, why, self._policy), facts, 0)

    def _judged(
        self,
        event: HookEvent,
        seen: Callable[[str], bytes | None],
        contract: Contract,
        lifted: frozenset[str],
    ) -> Judged:
        call = event.the_call
        facts = facts_of(call, cwd=event.cwd, home=self._home)
        operations = operation_mask(
            frozenset(operation for command in facts.commands for operation in command.operations)
        )
        try:
            force = disk.asked(event.cwd or "/", lambda: self._projects.at(event.cwd))
        except PolicyError as error:
            why = f"the project's policy can't be used: {error}"
            verdict = floor_verdict("project-policy", why, self._policy)
            return Judged(verdict, facts, operations, own=_unusable(error))
        policy, rules = force.policy, force.rules
        files = dict(disk.views(probe_list(call, facts, policy.write_roots)))
        if contract.level is Level.PAIRED:
            files |= _remembered(call, event.cwd, files, seen)
        subject = Subject(event, facts, files, policy, rules, lifted=lifted, pace=Pace(self._worked))
        verdict, projection = with_scripts(judge(subject), project(facts), subject)
        if not contract.native_ask:
            verdict = without_ask(verdict, policy.ask_fallback)
        return Judged(verdict, facts, operations, projection, rules.fingerprint, force.own)

    def own_at(self, cwd: str) -> bytes:
        """What the project of this directory adds now: ``Judged.own`` of a proposal there. Never raises."""
        try:
            return disk.asked(cwd or "/", lambda: self._projects.at(cwd)).own
        except (PolicyError, Unanswered) as error:
            return _unusable(error)


def _unusable(error: Exception) -> bytes:
    """What stands for a project's own policy that can't be used: a mended one is another."""
    return digest([type(error).__name__, str(error)])


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


def rules_for(policy: Policy, rules: Generation | None) -> Generation:
    """The rules given, or the release's without what the policy disables. Raises GenerationError."""
    return without(policy.rules.disable) if rules is None else rules


class Bindings:
    """What a pending call is bound to: when any of it changes, its result promotes nothing."""

    def __init__(self, policy: Policy, rules: Generation | None = None) -> None:
        self._policy = fingerprint(policy)
        self._rules = rules_for(policy, rules).fingerprint
        self._known: dict[tuple[str, int, str], bytes] = {}

    def of(self, contract: Contract, version: str, own: bytes = b"") -> bytes:
        """32 bytes over policy, rules, contract and the agent's version (where the contract knows it).

        ``own`` is what a project adds: a call is bound to it too. What a session has proven is not, for a
        project takes nothing away from what chains are made of.
        """
        compatibility = contract.compatibility(version)
        told = version if compatibility is Compatibility.KNOWN else compatibility.value
        key = (contract.contract_id, contract.revision, told)
        if key not in self._known:
            if len(self._known) >= _VERSIONS:
                self._known.clear()
            self._known[key] = digest([self._policy, self._rules, contract.fingerprint_source(), told])
        return digest([self._known[key], own]) if own else self._known[key]


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
