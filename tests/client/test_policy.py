"""`latchctl policy show`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from latch_client.cli import main
from latch_client.commands.policy import lines
from latch_contracts.places import Places
from latchd.policy import Policy, fingerprint
from wire_server import places_in


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    monkeypatch.chdir(tmp_path)
    return places_in(tmp_path, monkeypatch)


def test_every_key_is_shown_defaults_too() -> None:
    assert list(lines(Policy(), "00ff", [], [("deny", "floor", "the guard itself is not in order")])) == [
        "policy 00ff",
        "from the built-in defaults",
        "",
        'profile = "balanced"',
        "write_roots = []",
        "protected = []",
        "tools = []",
        'ask_fallback = "deny"',
        'fail = "closed"',
        'worktree = "strict"',
        'durability = "full"',
        "pending_minutes = 30",
        "network.allow = []",
        "allow.programs = []",
        "allow.paths = []",
        "allow.hosts = []",
        "rules.disable = []",
        "text.detect = true",
        "text.disable = []",
        'records.redaction = "head"',
        "records.days = 30",
        "records.mebibytes = 256",
        "hook.require_token = false",
        "",
        "what profile `balanced` answers",
        "  deny  floor  the guard itself is not in order",
    ]


def test_config_and_project_file_are_both_read(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    project = Path("work").resolve()
    project.mkdir()
    Path(places.config_file).write_text('protected = ["a"]\n')
    (project / ".latchd.toml").write_text('profile = "strict"\nprotected = ["b"]\n')
    code = main(["policy", "show", "--json", "--project", "work"])
    shown = json.loads(capsys.readouterr().out)

    assert (code, shown["sources"]) == (0, [places.config_file, str(project / ".latchd.toml")])
    assert (shown["policy"]["profile"], shown["policy"]["protected"]) == ("strict", ["a", "b"])
    assert shown["groups"]["network"] == "deny"


def test_the_fingerprint_is_the_one_in_records(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    main(["policy", "show"])

    assert capsys.readouterr().out.splitlines()[0] == f"policy {fingerprint(Policy()).hex()[:16]}"


def test_a_project_file_that_relaxes_is_one_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    Path(".latchd.toml").write_text('fail = "open"\n')

    assert (main(["policy", "show"]), capsys.readouterr().err) == (
        1,
        f"latchctl: `{Path('.latchd.toml').resolve()}`: `fail` can't be set by a project, "
        "only in the person's own config\n",
    )


def test_a_project_that_is_not_there_is_one_line(places: Places, capsys: pytest.CaptureFixture[str]) -> None:
    assert (main(["policy", "show", "--project", "/nonexistent"]), capsys.readouterr().err) == (
        1,
        "latchctl: `/nonexistent`: no such file or directory\n",
    )
