"""Packs on disk: the person's, and a project's on top, whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from latchd.offline import check_line
from latchd.policy import Policy, PolicyError
from latchd.projects import Projects
from latchd.rules.bundled import released
from latchd.rules.pack import MAX_FILES
from latchd.rules.standing import RulesError, standing
from rule_cases import RULE


def write(directory: Path, name: str = "mine.yaml", **fields: object) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    rule = RULE | {"id": f"{name.partition('.')[0]}.deploy"}
    path = directory / name
    path.write_bytes(msgspec.json.encode({"version": 1, "category": "mine", "rules": [rule | fields]}))
    return path


def refusal(directory: Path) -> str:
    with pytest.raises(RulesError) as caught:
        standing(Policy(), str(directory))
    return str(caught.value)


def test_without_a_directory_the_rules_are_the_releases(tmp_path: Path) -> None:
    assert standing(Policy(), str(tmp_path / "none")).fingerprint == released().fingerprint


def test_packs_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, "b.yaml")
    write(tmp_path, "a.yaml")
    (tmp_path / ".a.yaml.swp").write_text("what an editor left")
    (tmp_path / "README.md").write_text("about these rules")
    rules = standing(Policy(), str(tmp_path))

    assert [entry.rule.id for entry in rules.entries if entry.source.startswith(str(tmp_path))] == [
        "a.deploy",
        "b.deploy",
    ]


def test_one_bad_pack_refuses_them_all_with_file_line_and_reason(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml")
    bad = write(tmp_path, "b.yaml", colour="red")

    assert refusal(tmp_path) == f"{bad}:1: `colour` is no field that is known here"


def link(directory: Path, real: Path) -> None:
    (directory / "x.yaml").symlink_to(real)


def misnamed(directory: Path, _real: Path) -> None:
    (directory / "x.yml").write_text("")


def directory_of_that_name(directory: Path, _real: Path) -> None:
    (directory / "x.yaml").mkdir()


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (link, "links are not admitted"),
        (misnamed, "a pack's name ends in `.yaml`"),
        (directory_of_that_name, "is a directory"),
    ],
)
def test_links_other_endings_and_what_is_no_file_are_refused(
    tmp_path: Path, make: Callable[[Path, Path], None], why: str
) -> None:
    directory = tmp_path / "rules"
    directory.mkdir()
    make(directory, write(tmp_path / "elsewhere"))

    assert refusal(directory).partition(":1: ")[2] == why


def test_there_is_a_limit_to_the_number_of_packs(tmp_path: Path) -> None:
    for number in range(MAX_FILES + 1):
        (tmp_path / f"{number}.yaml").write_text("")

    assert refusal(tmp_path) == f"{tmp_path}:1: there are 65 packs, the limit is 64"


def test_a_projects_packs_are_on_top_below_their_directory_only(tmp_path: Path) -> None:
    write(tmp_path / "work" / ".latchd" / "rules", "team.yaml")
    projects = Projects(Policy())
    inside = projects.at(str(tmp_path / "work" / "src"))

    assert check_line({"command": "deploytool x"}, Policy(), rules=inside.rules)["rule"] == "team.deploy"
    assert projects.at(str(tmp_path)).rules is released()
    assert projects.at(str(tmp_path / "work")).rules is inside.rules


def test_a_projects_packs_are_read_again_when_they_change(tmp_path: Path) -> None:
    pack = write(tmp_path / ".latchd" / "rules", "team.yaml")
    projects = Projects(Policy())
    before = projects.rules_at(str(tmp_path))
    write(tmp_path / ".latchd" / "rules", "team.yaml", title="a deployment is about to be begun")
    after = projects.rules_at(str(tmp_path))

    assert before.fingerprint != after.fingerprint
    pack.unlink()
    assert projects.rules_at(str(tmp_path)).fingerprint == released().fingerprint


@pytest.mark.parametrize(
    "fields", [{"id": "self.files"}, {"id": "db.loss", "enabled": False}, {"pattern": "("}]
)
def test_a_project_that_reaches_for_a_rule_of_ours_or_errs_refuses_its_calls(
    tmp_path: Path, fields: dict[str, object]
) -> None:
    write(tmp_path / ".latchd" / "rules", "team.yaml", **fields)

    with pytest.raises(PolicyError, match=r"team\.yaml:1: "):
        Projects(Policy()).at(str(tmp_path))


@pytest.mark.parametrize(
    "command", ["rm -rf .latchd", "echo x > .latchd/rules/team.yaml", "rm ~/.config/latchd/rules/a.yaml"]
)
def test_an_agent_may_not_touch_the_packs_that_judge_it(command: str) -> None:
    assert check_line({"command": command}, Policy())["rule"] == "self.files"


def test_rules_further_in_do_not_hide_the_projects_own_policy(tmp_path: Path) -> None:
    (tmp_path / ".latchd.toml").write_text('profile = "strict"')
    write(tmp_path / "sub" / ".latchd" / "rules", "team.yaml")
    force = Projects(Policy()).at(str(tmp_path / "sub"))

    assert force.policy.profile == "strict"
    assert force.rules.entry("team.deploy") is not None
