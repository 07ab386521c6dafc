"""What must hold of a stored state, whatever crashed and whenever: a table of promises and what breaks them.

Read-only and of one moment, so it may look while the daemon works. Each query finds the rows that
break its promise, by the sequence a person can look up.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import msgspec

from latch_contracts.outcome import State
from latch_contracts.records import Record
from latchd.store import migrations, sqlite
from latchd.store.bounds import Bounds
from latchd.store.database import Database
from latchd.store.errors import StoreError

SHOWN: Final = 5  # breaches of one promise that are named; the rest is counted

FINAL: Final = tuple(state.value for state in State if state is not State.PENDING)

# name, promise, query for the sequences that break it; :calls, :steps, :pending are bounds
PROMISES: Final[tuple[tuple[str, str, str], ...]] = (
    (
        "pending-is-open",
        "a pending call has neither an end nor a result",
        "SELECT opened_seq FROM calls WHERE state = 'pending' AND (closed_seq <> 0 OR result <> x'')",
    ),
    (
        "final-is-closed",
        "a final call has an end, and not before its beginning",
        "SELECT opened_seq FROM calls WHERE state <> 'pending' AND closed_seq < opened_seq",
    ),
    (
        "step-is-success",
        "a step is of a call that succeeded then, under the policy that judged it",
        "SELECT steps.seq FROM steps JOIN calls USING (session, call) WHERE calls.opened_seq < steps.seq "
        "AND (calls.state <> 'succeeded' OR calls.closed_seq <> steps.seq "
        "OR calls.policy <> steps.policy OR calls.operations <> steps.operations)",
    ),
    (
        "success-is-step",
        "a call that succeeded has its step, unless bounds have taken it",
        "SELECT opened_seq FROM calls WHERE state = 'succeeded' "
        "AND closed_seq >= (SELECT coalesce(min(seq), 0) FROM steps) AND NOT EXISTS "
        "(SELECT 1 FROM steps WHERE steps.session = calls.session AND steps.call = calls.call)",
    ),
    (
        "step-has-call",
        "a step has its call, unless bounds have taken it",
        # Bounds take calls down to their number and no further.
        "SELECT seq FROM steps WHERE (SELECT count(*) FROM calls) < :calls AND NOT EXISTS "
        "(SELECT 1 FROM calls WHERE calls.session = steps.session AND calls.call = steps.call)",
    ),
    (
        "enforcement-is-detection",
        "what may refuse has been detected",
        "SELECT opened_seq FROM calls WHERE enforcement & ~detection <> 0 "
        "UNION ALL SELECT seq FROM chain_events WHERE enforcement & ~detection <> 0 OR detection = 0",
    ),
    (
        "opened-by-verdict",
        "the record that opened a call, or keeps a refusal, is a verdict",
        "SELECT opened_seq FROM calls JOIN records ON records.seq = opened_seq WHERE kind <> 'verdict' "
        "UNION ALL SELECT seq FROM denials JOIN records USING (seq) WHERE kind <> 'verdict' "
        "UNION ALL SELECT seq FROM refusals JOIN records USING (seq) WHERE kind <> 'verdict'",
    ),
    (
        "proven-by-outcome",
        "the record of a step, a chain event or a tainted file is an outcome",
        "SELECT seq FROM steps JOIN records USING (seq) WHERE kind <> 'outcome' "
        "UNION ALL SELECT seq FROM chain_events JOIN records USING (seq) WHERE kind <> 'outcome' "
        "UNION ALL SELECT seq FROM taints JOIN records USING (seq) WHERE kind <> 'outcome'",
    ),
    (
        "sequence-is-given",
        "no row speaks of a sequence that no record has had",
        "SELECT seq FROM (SELECT opened_seq AS seq FROM calls UNION ALL SELECT closed_seq FROM calls "
        "UNION ALL SELECT seq FROM steps UNION ALL SELECT seq FROM chain_events "
        "UNION ALL SELECT seq FROM files UNION ALL SELECT seq FROM taints UNION ALL SELECT seq FROM turns "
        "UNION ALL SELECT seq FROM denials UNION ALL SELECT seq FROM refusals "
        "UNION ALL SELECT grant_seq FROM refusals UNION ALL SELECT used_seq FROM refusals "
        "UNION ALL SELECT last_seq FROM sessions UNION ALL SELECT first_seq FROM sessions "
        "UNION ALL SELECT closed_seq FROM sessions UNION ALL SELECT ended_seq FROM sessions) "
        "WHERE seq < 0 OR seq > (SELECT coalesce(max(seq), 0) FROM records)",
    ),
    (
        "session-is-known",
        "a session with pending calls is known, and was seen when each was opened",
        "SELECT opened_seq FROM calls LEFT JOIN sessions USING (session) "
        "WHERE (state = 'pending' AND sessions.session IS NULL) OR opened_seq > last_seq",
    ),
    (
        "counters-count",
        "a session's counters say how its calls stand, unless bounds have taken some",
        "SELECT max(opened_seq) FROM calls JOIN sessions USING (session) "  # noqa: S608 (states of ours)
        "WHERE opened_seq >= first_seq "
        "AND (SELECT count(*) FROM calls) < :calls GROUP BY session HAVING "
        + " OR ".join(f"sum(state = '{state}') <> sessions.{state}" for state in FINAL)
        + " UNION ALL SELECT max(seq) FROM steps JOIN sessions USING (session) "
        "WHERE seq > sessions.closed_seq AND seq >= first_seq AND (SELECT count(*) FROM steps) < :steps "
        "GROUP BY session HAVING count(*) <> sessions.steps",
    ),
    (
        "leave-is-used-once",
        "leave to do what was refused is used after it was given, or not",
        "SELECT seq FROM refusals WHERE used_seq <> 0 AND (grant_seq = 0 OR used_seq < grant_seq)",
    ),
    (
        "pending-is-bounded",
        "no session has more pending calls than its bound",
        "SELECT max(opened_seq) FROM calls WHERE state = 'pending' "
        "GROUP BY session HAVING count(*) > :pending",
    ),
)

_decoder: Final = msgspec.msgpack.Decoder(Record)


class Finding(msgspec.Struct, frozen=True):
    """How one promise stands. ``breaches`` counts what breaks it, ``examples`` names the first of it."""

    check: str
    promise: str
    breaches: int
    examples: tuple[str, ...]


def examine(database: Database, bounds: Bounds) -> list[Finding]:
    """Everything there is to check, in the order that a person repairs it. Raises StoreError."""
    with database.snapshot():
        return [
            _finding("integrity", "SQLite finds the file whole", _integrity(database)),
            _finding("schema", "tables and indexes are those of this schema", _schema(database)),
            _finding("foreign-keys", "no row points to one that is gone", _foreign_keys(database)),
            *_promises(database, bounds),
            _finding("records", "each record can be read, and is of its kind", _records(database)),
        ]


def _finding(check: str, promise: str, breaches: Iterator[str]) -> Finding:
    count = 0
    examples: list[str] = []
    try:
        for breach in breaches:
            count += 1
            if len(examples) < SHOWN:
                examples.append(breach)
    except StoreError as error:  # a damaged file can't be read to its end
        count += 1
        examples.append(str(error))
    return Finding(check, promise, count, tuple(examples))


def _promises(database: Database, bounds: Bounds) -> Iterator[Finding]:
    values: dict[str, Any] = {
        "calls": bounds.calls,
        "steps": bounds.steps,
        "pending": bounds.pending_per_session,
    }
    for name, promise, sql in PROMISES:
        used = {key: value for key, value in values.items() if f":{key}" in sql}
        yield _finding(name, promise, (f"seq {seq}" for (seq,) in database.each(sql, used)))


def _integrity(database: Database) -> Iterator[str]:
    return (text for (text,) in database.each("PRAGMA integrity_check") if text != "ok")


def _foreign_keys(database: Database) -> Iterator[str]:
    return (f"table `{row[0]}`, row {row[1]}" for row in database.each("PRAGMA foreign_key_check"))


def _schema(database: Database) -> Iterator[str]:
    wanted, found = sqlite.shape_of(migrations.current()), database.shape()
    for kind, name, _ in sorted(wanted - found):
        yield f"{kind} `{name}` is missing or different"
    for kind, name, _ in sorted(found - wanted):
        if not any(name == other for _, other, _ in wanted):
            yield f"{kind} `{name}` is not ours"


def _records(database: Database) -> Iterator[str]:
    for seq, kind, body in database.each("SELECT seq, kind, body FROM records ORDER BY seq"):
        try:
            record: Record = _decoder.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            yield f"seq {seq}: {error}"
        else:
            if (tag := str(record.__struct_config__.tag)) != kind:
                yield f"seq {seq}: a {tag} kept as {kind}"
