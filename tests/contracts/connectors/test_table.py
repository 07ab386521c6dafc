"""The table of connectors holds sound contracts alone: a faulty one stops the import, in words."""

from __future__ import annotations

import msgspec
import pytest

from latch_contracts.connectors import CONNECTORS, claudecode, table
from latch_contracts.contract import (
    Authority,
    Compatibility,
    Event,
    Kind,
    Level,
    Route,
    Surface,
    faults,
)


def test_every_connector_is_listed_under_its_contracts_name_and_sound() -> None:
    assert {name: connector.contract.connector for name, connector in CONNECTORS.items()} == {
        "claudecode": "claudecode"
    }
    assert [list(faults(connector.contract)) for connector in CONNECTORS.values()] == [[]]


def test_a_faulty_contract_can_not_be_imported() -> None:
    broken = msgspec.structs.replace(
        claudecode.CONTRACT,
        events=(*claudecode.CONTRACT.events, Event("Safe", Route.TRANSITION, Kind.AUDIT)),
        call_id_field="",
    )
    connector = msgspec.structs.replace(claudecode.CONNECTOR, contract=broken)

    with pytest.raises(ImportError) as caught:
        table([connector])

    assert str(caught.value) == (
        "faulty connector contracts: "
        "claudecode: Safe is on the transition route, which is closed; "
        "claudecode: a paired id needs the field that carries it"
    )


def test_two_connectors_of_one_name_can_not_be_imported() -> None:
    with pytest.raises(ImportError, match="claudecode: is listed twice"):
        table([claudecode.CONNECTOR, claudecode.CONNECTOR])


def test_claude_codes_contract_is_the_reviewed_one() -> None:
    contract = claudecode.CONTRACT

    assert (contract.level, contract.authority, contract.outcome_authority, contract.native_ask) == (
        Level.PAIRED,
        Authority.PAIRED_ID,
        True,
        True,
    )
    assert len(contract.events) == 34
    assert {event.name: event.cutoff for event in contract.events if event.cutoff} == {
        "Stop": "turn",
        "StopFailure": "turn",
        "SessionEnd": "session",
    }
    assert {event.name: event.route for event in contract.events if event.route is not Route.AUDIT} == {
        "PreToolUse": Route.ACTION,
        "PreSkillShellCommand": Route.DIRECT,
        "PermissionRequest": Route.DIRECT,
        "PostToolUse": Route.RESULT,
        "PostToolUseFailure": Route.RESULT,
        "PermissionDenied": Route.RESULT,
    }
    assert {event.name for event in contract.events if event.blockable} == {
        "PreToolUse",
        "PreSkillShellCommand",
        "PermissionRequest",
        "ConfigChange",
    }
    assert [contract.compatibility(text) for text in ("2.1.151", "2.1.152", "")] == [
        Compatibility.UNKNOWN,
        Compatibility.KNOWN,
        Compatibility.UNVERSIONED,
    ]


def test_every_tool_with_a_role_belongs_to_the_family_that_uses_it() -> None:
    with_command = {tool.name for tool in claudecode.CONTRACT.tools if tool.command}
    without_path = {
        tool.name
        for tool in claudecode.CONTRACT.tools
        if tool.surface in (Surface.READ, Surface.WRITE, Surface.EDIT) and not tool.path
    }

    assert with_command == {tool.name for tool in claudecode.CONTRACT.tools if tool.surface is Surface.SHELL}
    assert without_path == set()
