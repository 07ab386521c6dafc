"""Results that came when their call was final already: known by digest, so that each is told once.

They stand behind the one that ended the call, in the same column. Inside the caller's transaction.
"""

from __future__ import annotations

from typing import Final

from latchd.store.database import Database
from latchd.store.rows import CallRow

MOST: Final = 16  # of one call, its end included; what comes beyond is told each time
_DIGEST: Final = 32


def remember(database: Database, row: CallRow, result: bytes) -> None:
    database.run(
        "UPDATE calls SET result = CAST(result || ? AS BLOB) "
        "WHERE session = ? AND call = ? AND length(result) < ?",
        (result, row.session, row.call, MOST * _DIGEST),
    )


def is_known(row: CallRow, result: bytes) -> bool:
    """Whether this very result ended the call, or came late before."""
    return any(row.result[at : at + _DIGEST] == result for at in range(0, len(row.result), _DIGEST))
