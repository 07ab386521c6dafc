"""The policy: whole or not at all, and a project can only tighten it."""

from __future__ import annotations

import pytest

from latch_contracts.verdict import Action, Severity
from latchd.guard.groups import Group
from latchd.policy import Fail, Network, Policy, PolicyError, Profile, fingerprint, parse, tighten

FULL = b"""
profile = "strict"
write_roots = ["~/work", "/srv/x"]
protected = ["infra/prod"]
tools = ["Bash"]
ask_fallback = "deny"
worktree = "relaxed"
durability = "normal"
pending_minutes = 5

[fail]
claudecode = "open"

[network]
allow = ["github.com"]

[allow]
programs = ["mytool"]
paths = ["/srv/scratch"]
hosts = ["*.example.org"]

[records]
redaction = "none"
days = 7
mebibytes = 64

[hook]
require_token = true
"""


def test_an_empty_file_is_the_default_policy() -> None:
    assert parse(b"") == Policy()
    assert Policy().profile is Profile.BALANCED


def test_every_key_is_read() -> None:
    policy = parse(FULL)

    assert (policy.profile, policy.write_roots, policy.protected) == (
        Profile.STRICT,
        ("~/work", "/srv/x"),
        ("infra/prod",),
    )
    assert (policy.redaction, policy.pending_ms, policy.durability) == ("none", 300_000, "normal")
    assert (policy.fails_open("claudecode"), policy.fails_open("codex")) == (True, False)
    assert policy.network == Network(allow=("github.com",))
    assert policy.hook.require_token is True


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (b"profil = 'x'", "`profil` is not a key of the policy"),
        (b"[allow]\nprogram = ['x']", "`allow.program` is not a key of the policy"),
        (b"profile = 'lax'", "`profile` is wrong: invalid enum value 'lax'"),
        (b"write_roots = 'x'", "`write_roots` is wrong: expected `array`, got `str`"),
        (b"write_roots = ['work']", "`write_roots` holds `work`, which is neither absolute nor below ~"),
        (b"pending_minutes = 0", "`pending_minutes` is 0, it must be 1 to 1440"),
        (b"pending_minutes = true", "`pending_minutes` is wrong: expected `int`, got `bool`"),
        (b"[records]\ndays = 99999", "`records.days` is 99999, it must be 1 to 3650"),
        (b"[groups]\ndestroy = 'allow'", "`groups.destroy` can't be set: every profile answers it the same"),
        (b"[groups]\nnothing = 'ask'", "`groups` has no key `nothing`"),
        (b"[severities]\ngrave = 'ask'", "`severities` has no key `grave`"),
        (b"[groups]\nnetwork = 'maybe'", "`groups[...]` is wrong: invalid enum value 'maybe'"),
        (b"[rules]\ndisable = ['']", "`rules.disable` holds an empty entry"),
        (b"protected = ['']", "`protected` holds an empty entry"),
        (b"\xff", "the file is not UTF-8 at byte 0"),
        (b"a = ", "the file is not TOML: invalid value (at end of document)"),
    ],
)
def test_what_can_not_be_understood_is_refused_in_one_line_that_names_the_key(
    config: bytes, says: str
) -> None:
    with pytest.raises(PolicyError) as caught:
        parse(config)

    assert str(caught.value) == says


def test_one_word_for_all_agents_says_whether_to_fail_open() -> None:
    assert parse(b"fail = 'open'").fails_open("anything")
    assert not Policy(fail={"default": Fail.CLOSED}).fails_open("anything")


@pytest.mark.parametrize(
    ("mine", "theirs", "stands"),
    [
        ("balanced", "strict", Profile.STRICT),
        ("strict", "balanced", Profile.STRICT),
        ("strict", "observe", Profile.STRICT),
        ("observe", "balanced", Profile.BALANCED),
    ],
)
def test_the_stricter_profile_stands(mine: str, theirs: str, stands: Profile) -> None:
    policy = parse(f"profile = '{mine}'".encode())

    assert tighten(policy, f"profile = '{theirs}'".encode()).profile is stands


def test_a_project_that_says_nothing_changes_nothing() -> None:
    policy = parse(FULL)

    assert tighten(policy, b"") == policy


def test_a_project_adds_what_is_protected_and_narrows_the_roots() -> None:
    policy = tighten(parse(FULL), b"protected = ['db']\nwrite_roots = ['/srv/x/api']\nworktree = 'strict'")

    assert (policy.protected, policy.write_roots, policy.worktree) == (
        ("infra/prod", "db"),
        ("/srv/x/api",),
        "strict",
    )


@pytest.mark.parametrize(
    "project",
    [
        b"[allow]\nprograms = ['rm']",
        b"[network]\nallow = ['x']",
        b"fail = 'open'",
        b"[records]\nredaction = 'full'",
        b"durability = 'normal'",
        b"write_roots = ['/']",
    ],
)
def test_a_project_can_not_relax_anything(project: bytes) -> None:
    with pytest.raises(PolicyError):
        tighten(parse(FULL), project)


def test_a_project_can_not_widen_the_root_that_is_the_sessions_directory() -> None:
    with pytest.raises(PolicyError, match="outside the roots"):
        tighten(Policy(), b"write_roots = ['/']")


def test_a_root_that_climbs_is_no_root_below_another() -> None:
    with pytest.raises(PolicyError):
        tighten(parse(FULL), b"write_roots = ['/srv/x/../..']")


def test_a_project_can_not_turn_a_refusal_fallback_into_an_allow() -> None:
    assert tighten(Policy(), b"ask_fallback = 'allow'").ask_fallback == "deny"
    assert tighten(parse(b"ask_fallback = 'allow'"), b"ask_fallback = 'deny'").ask_fallback == "deny"
    assert tighten(parse(b"ask_fallback = 'allow'"), b"").ask_fallback == "allow"


def test_the_profile_answers_and_the_person_may_answer_otherwise() -> None:
    policy = parse(b"[groups]\nnetwork = 'ask'\npackage = 'deny'\n[severities]\nhigh = 'deny'")

    assert policy.answer(Group.NETWORK, Severity.LOW) is Action.ASK
    assert policy.answer(Group.PACKAGE, Severity.LOW) is Action.DENY
    assert policy.answer(Group.DESTROY, Severity.LOW) is Action.DENY
    assert policy.answer(Group.BY_SEVERITY, Severity.HIGH) is Action.DENY
    assert policy.answer(Group.BY_SEVERITY, Severity.MEDIUM) is Action.ALLOW


def test_under_observe_every_answer_is_to_record() -> None:
    policy = parse(b"profile = 'observe'\n[groups]\nnetwork = 'deny'\n[severities]\nlow = 'deny'")

    assert {policy.answer(group, severity) for group in Group for severity in Severity} == {Action.ALLOW}


@pytest.mark.parametrize(
    ("severity", "balanced", "strict"),
    [
        (Severity.CRITICAL, Action.DENY, Action.DENY),
        (Severity.HIGH, Action.ASK, Action.DENY),
        (Severity.MEDIUM, Action.ALLOW, Action.DENY),
        (Severity.LOW, Action.ALLOW, Action.ALLOW),
    ],
)
def test_a_rule_of_no_group_is_answered_by_its_severity(
    severity: Severity, balanced: Action, strict: Action
) -> None:
    answers = [
        Policy(profile=profile).answer(Group.BY_SEVERITY, severity)
        for profile in (Profile.BALANCED, Profile.STRICT)
    ]

    assert answers == [balanced, strict]


def test_a_project_can_make_an_answer_stricter_and_not_laxer() -> None:
    mine = parse(b"[groups]\nnetwork = 'ask'\n[severities]\nhigh = 'deny'")
    project = b"[groups]\nnetwork = 'allow'\npackage = 'ask'\n[severities]\nhigh = 'allow'\nmedium = 'ask'"
    policy = tighten(mine, project)

    assert policy.groups == {Group.NETWORK: Action.ASK, Group.PACKAGE: Action.ASK}
    assert policy.severities == {Severity.HIGH: Action.DENY, Severity.MEDIUM: Action.ASK}


def test_a_project_can_not_switch_a_rule_off() -> None:
    with pytest.raises(PolicyError, match="`rules` can't be set by a project"):
        tighten(Policy(), b"[rules]\ndisable = ['db.loss']")


def test_the_fingerprint_tells_policies_apart_and_nothing_else() -> None:
    assert fingerprint(parse(b"profile = 'balanced'")) == fingerprint(Policy())
    assert fingerprint(parse(b"profile = 'strict'")) != fingerprint(Policy())
    assert len(fingerprint(Policy())) == 32
