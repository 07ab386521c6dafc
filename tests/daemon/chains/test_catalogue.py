"""The fixed catalogue: six chains, stored bits, and which of them may block."""

from __future__ import annotations

from latchd.chains.catalogue import CHAINS, DETECTION_ONLY, FIRST_STEPS, SECOND_STEPS, Step


def test_there_are_six_chains_and_their_stored_bits_are_their_places() -> None:
    assert [(chain.bit, chain.id) for chain in CHAINS] == [
        (0, "chain.guardrails-off-then-egress"),
        (1, "chain.permission-denied-then-runtime-bypass"),
        (2, "chain.privilege-discovery-then-elevation"),
        (3, "chain.secret-manager-read-then-egress"),
        (4, "chain.secret-read-then-egress"),
        (5, "chain.workload-identity-then-lateral-execution"),
    ]


def test_stored_step_bits_are_never_given_to_another_step() -> None:
    assert {step.name: step.value for step in Step} == {
        "GUARDRAILS_OFF": 1,
        "PERMISSION_DENIED": 2,
        "RUNTIME_BYPASS": 4,
        "PRIVILEGE_DISCOVERY": 8,
        "PRIVILEGE_ELEVATION": 16,
        "SECRET_MANAGER_READ": 32,
        "SECRET_READ": 64,
        "IDENTITY_READ": 128,
        "EGRESS": 256,
        "LATERAL_EXECUTION": 512,
    }


def test_only_chains_whose_steps_can_be_exact_may_block() -> None:
    assert [chain.id for chain in CHAINS if chain.blocks] == [
        "chain.permission-denied-then-runtime-bypass",
        "chain.privilege-discovery-then-elevation",
    ]
    assert [chain.id for chain in CHAINS if chain.dormant] == ["chain.guardrails-off-then-egress"]


def test_no_step_is_both_a_first_and_a_second_one() -> None:
    assert Step(0) == FIRST_STEPS & SECOND_STEPS


def test_the_steps_of_a_chain_that_blocks_are_not_held_to_detection() -> None:
    for chain in CHAINS:
        if chain.blocks:
            assert (chain.first | chain.second) & DETECTION_ONLY == Step(0)
