"""Files that hold secrets, by keyed digests. Each function runs inside the caller's transaction."""

from __future__ import annotations

from collections.abc import Iterable

from latchd.chains.catalogue import Step
from latchd.chains.held import MOST, Held
from latchd.store.database import Database
from latchd.windows import Instant


def held(database: Database, session: bytes, policy: bytes) -> list[Held]:
    """What the session holds as proven under this policy, whatever its age, earliest proof first."""
    rows = database.rows(
        "SELECT path, above, origin, seq, boot, boot_ns, wall_ms FROM taints "
        "WHERE session = ? AND policy = ? ORDER BY seq, path",
        (session, policy),
    )
    return [Held(path, above, Step(origin), seq, Instant(*at)) for path, above, origin, seq, *at in rows]


def hold(database: Database, session: bytes, policy: bytes, files: Iterable[Held]) -> None:
    """These hold secrets from now on; over the session's bound its oldest are forgotten."""
    for one in files:
        database.run(
            "INSERT OR REPLACE INTO taints "
            "(session, policy, path, above, origin, seq, boot, boot_ns, wall_ms) VALUES (?,?,?,?,?,?,?,?,?)",
            (
                *(session, policy, one.path, one.above, one.origin, one.seq),
                *(one.at.boot, one.at.boot_ns, one.at.wall_ms),
            ),
        )
    database.run(
        "DELETE FROM taints WHERE session = ?1 AND path IN "
        "(SELECT path FROM taints WHERE session = ?1 ORDER BY seq DESC, path LIMIT -1 OFFSET ?2)",
        (session, MOST),
    )


def release(database: Database, session: bytes, paths: Iterable[bytes]) -> None:
    for path in paths:
        database.run("DELETE FROM taints WHERE session = ? AND path = ?", (session, path))


def release_all(database: Database, session: bytes) -> None:
    database.run("DELETE FROM taints WHERE session = ?", (session,))


def count(database: Database, session: bytes) -> int:
    """How many files it holds, under whatever policy and of whatever age."""
    row = database.row("SELECT count(*) FROM taints WHERE session = ?", (session,))
    return 0 if row is None else int(row[0])
