"""What a session has proven meets what it proposes: the chains a call completes, the files it moves."""

from __future__ import annotations

from latch_contracts.verdict import Verdict
from latchd.arrival import Arrival
from latchd.chains import held
from latchd.chains.catalogue import MOST_EVENTS, SECOND_STEPS, Step
from latchd.chains.matching import Past, match
from latchd.chains.verdict import completed
from latchd.judging import Bindings, Judged
from latchd.keys import Keys
from latchd.policy import Policy
from latchd.recording import Identity
from latchd.store import taints
from latchd.store.rows import SessionRow
from latchd.store.store import Store


class Chaining:
    """Inside the caller's transaction."""

    def __init__(self, store: Store, keys: Keys, policy: Policy, bindings: Bindings) -> None:
        self._store = store
        self._keys = keys
        self._policy = policy
        self._bindings = bindings

    def verdict(
        self,
        judged: Judged,
        came: Arrival,
        session: SessionRow | None,
        lifted: frozenset[str] = frozenset(),
    ) -> Verdict:
        """The verdict, with the chains that this call completes after what its session has proven."""
        steps, identity = judged.projection, came.identity
        if session is None or not (steps.detection & SECOND_STEPS or steps.flows.sent):
            return judged.verdict
        policy = self._bindings.of(came.contract, came.version)
        rows = self._store.chain_events(identity.session, policy, MOST_EVENTS)
        history = [
            Past(row.seq, Step(row.detection), Step(row.enforcement), row.at)
            for row in rows
            if row.call != identity.call or not identity.call  # a call does not precede itself
        ]
        carried: tuple[held.Carried, ...] = ()
        if session.tainting and steps.flows.sent:
            files = taints.held(self._store.database, identity.session, policy)
            carried = held.carried(steps.flows.sent, held.recent(files, came.now), self._path_key(identity))
        matches = match(history, steps, came.now, carried)
        return completed(judged.verdict, matches, self._policy.profile, lifted)

    def flows(self, judged: Judged, session: SessionRow | None, identity: Identity) -> bytes:
        """What this call's success will say of files that hold secrets, where that can matter."""
        flows = judged.projection.flows
        if flows.origin:
            self._store.set_tainting(identity.session)
        elif session is None or not session.tainting:
            return b""  # no file of this session holds a secret, and this call puts none into one
        return held.written(flows, self._path_key(identity))

    def _path_key(self, identity: Identity) -> held.Key:
        return lambda path: self._keys.path(identity.session, path)
