"""Two participants, structurally: set and order, and nobody else registers."""

from __future__ import annotations

import ast
from pathlib import Path

import latchd
from latchd.guard.manifest import PARTICIPANTS, Participant, fault

SOURCE = Path(latchd.__file__).parent


def test_the_participants_are_exactly_these_in_this_order() -> None:
    assert [participant.name for participant in PARTICIPANTS] == ["self-protection", "guard"]


def test_another_set_or_another_order_is_a_fault_that_names_both() -> None:
    third = Participant("third", lambda _subject: ())

    assert fault(PARTICIPANTS) == ""
    assert fault((*PARTICIPANTS, third)) == (
        "participants are self-protection, guard, third; they must be self-protection, guard"
    )
    assert fault(PARTICIPANTS[::-1]) != ""
    assert fault(()) != ""


def test_no_module_but_the_manifest_makes_a_participant() -> None:
    makers = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "Participant"
    }

    assert makers == {"guard/manifest.py"}, "a new participant needs a decision; do not just add yourself"
