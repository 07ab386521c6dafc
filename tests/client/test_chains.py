"""`latchctl chains`: the catalogue as a person and a program read it."""

from __future__ import annotations

import json

import pytest

from latch_client.cli import main
from latchd.chains.catalogue import CHAINS


def test_every_chain_has_its_line(capsys: pytest.CaptureFixture[str]) -> None:
    code = main(["chains"])

    head, *lines = capsys.readouterr().out.splitlines()
    assert code == 0
    assert head.split() == ["CHAIN", "EVENTS", "MINUTES", "WHEN", "COMPLETE", "WHAT"]
    assert [line.split()[:4] for line in lines] == [
        ["chain.guardrails-off-then-egress", "64", "30", "dormant"],
        ["chain.permission-denied-then-runtime-bypass", "16", "5", "refuses"],
        ["chain.privilege-discovery-then-elevation", "32", "15", "refuses"],
        ["chain.secret-manager-read-then-egress", "64", "30", "tells"],
        ["chain.secret-read-then-egress", "64", "30", "tells"],
        ["chain.workload-identity-then-lateral-execution", "32", "15", "tells"],
    ]


def test_as_json_a_chain_is_an_object_with_its_steps(capsys: pytest.CaptureFixture[str]) -> None:
    main(["chains", "--json"])

    shown = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [one["chain"] for one in shown] == [chain.id for chain in CHAINS]
    assert (shown[1]["first"], shown[1]["second"]) == ("permission_denied", "runtime_bypass")
