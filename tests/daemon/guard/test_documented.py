"""The docs speak of every rule, group and key there is."""

from __future__ import annotations

import msgspec
import pytest

from corpora import REPOSITORY
from latchd.guard.groups import PROFILES, Group
from latchd.guard.rules import RULES, SELF_PROTECTION
from latchd.policy import Allow, Hook, Network, Policy, Profile, Records, parse

RULE_PAGE = (REPOSITORY / "docs" / "rules.md").read_text(encoding="utf-8")
CONFIG_PAGE = (REPOSITORY / "docs" / "config.md").read_text(encoding="utf-8")


def test_every_rule_has_its_line_with_group_and_severity() -> None:
    missing = [
        rule.id
        for rule in (*SELF_PROTECTION, *RULES)
        if f"| `{rule.id}` | {rule.title} | {rule.group.value} | {rule.severity.value} |" not in RULE_PAGE
    ]

    assert missing == []


@pytest.mark.parametrize("group", Group)
def test_every_group_has_its_line_with_both_actions(group: Group) -> None:
    balanced, strict = (PROFILES[profile][group].value for profile in (Profile.BALANCED, Profile.STRICT))

    assert f"| record | {balanced} | {strict} |" in next(
        line for line in RULE_PAGE.splitlines() if line.startswith(f"| `{group.value}` |")
    )


@pytest.mark.parametrize("table", [Policy, Network, Allow, Records, Hook])
def test_every_key_of_the_policy_is_in_the_docs(table: type[msgspec.Struct]) -> None:
    assert [name for name in table.__struct_fields__ if name not in CONFIG_PAGE] == []


def test_the_example_in_the_docs_is_the_default_policy() -> None:
    example = CONFIG_PAGE.split("```toml\n")[1].split("```")[0]

    assert parse(example.encode()) == Policy()
