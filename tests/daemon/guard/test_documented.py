"""The docs speak of every rule, group and key there is."""

from __future__ import annotations

import msgspec
import pytest

from corpora import REPOSITORY
from latchd.guard.groups import PROFILES, Group
from latchd.policy import Allow, Hook, Network, Policy, Profile, Records, Rules, parse
from latchd.rules.bundled import ENGINE, released
from latchd.rules.compiling import entries
from latchd.rules.generation import with_packs
from latchd.rules.lint import faults
from latchd.rules.pack import PackRule
from latchd.rules.pack import parse as parse_pack
from latchd.rules.shapes import RECORDS

RULE_PAGE = (REPOSITORY / "docs" / "rules.md").read_text(encoding="utf-8")
CONFIG_PAGE = (REPOSITORY / "docs" / "config.md").read_text(encoding="utf-8")


def test_every_rule_has_its_line_with_group_and_severity() -> None:
    missing = [
        rule.id
        for rule in (entry.rule for entry in released().entries)
        if f"| `{rule.id}` | {rule.title} | {rule.group.value} | {rule.severity.value} |" not in RULE_PAGE
    ]

    assert missing == []


@pytest.mark.parametrize("group", Group)
def test_every_group_has_its_line_with_both_actions(group: Group) -> None:
    balanced, strict = (PROFILES[profile][group].value for profile in (Profile.BALANCED, Profile.STRICT))

    assert f"| record | {balanced} | {strict} |" in next(
        line for line in RULE_PAGE.splitlines() if line.startswith(f"| `{group.value}` |")
    )


@pytest.mark.parametrize("table", [Policy, Network, Allow, Rules, Records, Hook])
def test_every_key_of_the_policy_is_in_the_docs(table: type[msgspec.Struct]) -> None:
    assert [name for name in table.__struct_fields__ if name not in CONFIG_PAGE] == []


def test_the_example_in_the_docs_is_the_default_policy() -> None:
    example = CONFIG_PAGE.split("```toml\n")[1].split("```")[0]

    assert parse(example.encode()) == Policy()


def test_every_field_of_a_pack_and_of_the_facts_is_in_the_docs() -> None:
    page = (REPOSITORY / "docs" / "packs.md").read_text(encoding="utf-8")
    fields = [f"`{name}`" for name in PackRule.__struct_fields__]
    rows = [f"| {record} | `{field}` |" for record, shapes in RECORDS.items() for field in shapes]

    assert [text for text in (*fields, *rows) if text not in page] == []


def test_the_pack_in_the_docs_is_without_fault() -> None:
    page = (REPOSITORY / "docs" / "packs.md").read_text(encoding="utf-8")
    file = parse_pack(page.split("```yaml\n")[1].split("```")[0].encode(), "docs.yaml")
    rules = with_packs(released(), list(entries([file], ENGINE)))
    entry = rules.entry("team.deploy-prod")

    assert entry is not None
    assert list(faults(rules, entry)) == []
