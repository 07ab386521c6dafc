"""Refusals, grants and their bound, in a real database."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from latchd.allowances import KEPT, Refusal
from latchd.store import allowances
from latchd.store.database import Database
from latchd.windows import Instant

AT = Instant(bytes(16), 5, 6)
LATER = Instant(bytes([1]) * 16, 7, 8)
S1, S2, D1, D2 = (letter * 32 for letter in (b"s", b"t", b"d", b"e"))


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = Database.open(tmp_path / "latchd.db", full_sync=False)
    yield opened
    opened.close()


def refusal(seq: int, session: bytes = S1, deed: bytes = D1) -> Refusal:
    return Refusal(seq, session, deed, "fs.x", bytes(32), AT)


def test_a_refusal_comes_back_as_it_was_kept(database: Database) -> None:
    allowances.add(database, refusal(3))

    assert allowances.of_record(database, 3) == refusal(3)
    assert allowances.of_record(database, 4) is None


def test_what_was_granted_is_found_by_its_session_and_deed_alone(database: Database) -> None:
    for one in (refusal(1), refusal(2, S2), refusal(3, S1, D2), refusal(4)):
        allowances.add(database, one)
    for seq in (1, 2, 3):
        allowances.grant(database, seq, 10 + seq, LATER)

    first = msgspec.structs.replace(refusal(1), granted=LATER, grant_seq=11)
    assert allowances.granted(database, S1, D1) == [first]


def test_a_grant_is_given_once_and_used_once(database: Database) -> None:
    allowances.add(database, refusal(1))
    for attempt in (10, 20):
        allowances.grant(database, 1, attempt, LATER)
        allowances.use(database, 1, attempt + 1)

    assert allowances.of_record(database, 1) == msgspec.structs.replace(
        refusal(1), granted=LATER, grant_seq=10, used_seq=11
    )


def test_the_oldest_over_the_bound_go(database: Database) -> None:
    with database.transaction():
        for seq in range(1, KEPT + 3):
            allowances.add(database, refusal(seq))

    kept = [one.seq for one in allowances.newest_first(database)]
    assert kept == list(range(KEPT + 2, 2, -1))
