"""What is told of the state."""

from __future__ import annotations

from latch_contracts.facts import Operation
from latchd.views import operation_mask, operations_of


def test_a_mask_says_back_what_it_was_made_of() -> None:
    operations = frozenset({Operation.READ, Operation.DELETE, Operation.INSTALL})

    assert operations_of(operation_mask(operations)) == ["read", "delete", "install"]


def test_every_operation_fits_a_database_integer() -> None:
    assert operation_mask(frozenset(Operation)) < 1 << 63
