"""Literal SQL is told apart by what it takes away."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Operation
from latchd.shell.grammar.sql import loses, operations


@pytest.mark.parametrize(
    "text",
    [
        "drop table x",
        "DROP DATABASE IF EXISTS x",
        "truncate x",
        "delete from x",
        "DELETE FROM x WHERE 1=1",
        "select 1; drop schema x cascade",
        "update x set a = 1",
        "alter table x drop column y",
        "with y as (select 1) delete from x",
        "/* keep */ drop view x",
        "drop/**/table x",
        "/*!50000 drop table x */",
        "drop -- really\n table x",
        "# mysql\ntruncate x",
    ],
)
def test_a_text_that_removes_what_is_stored_loses(text: str) -> None:
    assert loses(text)


@pytest.mark.parametrize(
    "text",
    [
        "select 'drop table x'",
        "delete from x where id = 3",
        "update x set a = 1 where id = 2",
        "-- drop table x\nselect 1",
        "# drop table x",
        "/* drop table x",
        "select 'it''s'; -- '; drop table x",
        "create table x (y int)",
        "insert into x values ('truncate')",
        "explain delete from x",
    ],
)
def test_a_text_that_leaves_it_does_not(text: str) -> None:
    assert not loses(text)


def test_a_text_of_questions_only_reads() -> None:
    assert operations("select 1; show tables") == (Operation.READ,)
    assert operations("select 1; insert into x values (1)") == (Operation.WRITE,)
