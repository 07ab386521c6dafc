"""Uninstalling gives the settings back, to the byte where nothing else changed in between."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from latch_client import cli
from latch_client.install import claudecode, ledger
from latch_client.install.hook_line import hook_line
from latch_contracts.places import Places

LINE = hook_line("claudecode", fail_open=False, autostart=False)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in list(os.environ):
        if name.startswith(("XDG_", "LATCHD_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".claude").mkdir()
    return tmp_path


def settings_of(home: Path) -> Path:
    return home / ".claude" / "settings.json"


def install(*words: str) -> None:
    assert cli.main(["install", "claudecode", *words]) == 0


def uninstall(*words: str) -> int:
    return cli.main(["uninstall", "claudecode", *words])


MINE: dict[str, Any] = {"hooks": [{"type": "command", "command": "mine"}]}


@pytest.mark.parametrize(
    "content",
    [
        "{}",
        "{}\n",
        " { }\n\n",
        '{"model": "opus"}',
        '{\r\n\t"model":"opus"\r\n}',
        '\ufeff{\n  "model": "opus"\n}\n',
        '{\r  "model": "opus"\r}\r',
        '{\r\n  "model": "opus",\n  "x": 2\r\n}',
        '{\n  "é": "日本 \\u2028 \u2028 {[\\"\\\\",\n  "x": [[[{}]]]\n}\n',
        '{"ho\\u006fks": {"Stop": [{"hooks": [{"type": "command", "command": "echo \\"}]\\""}]}]}}',
        '{ "a": 1\n , "hooks":\n{ "Stop": [ {"hooks": [ {"type": "command", "command": "o"} ] }\n ] }\n }',
        json.dumps({"x": ["y" * 100] * 5000}, indent=2),
        '{"hooks": {}}',
        '{"hooks": {"PreToolUse": [], "Stop": [ ]}}',
        json.dumps({"hooks": {"PreToolUse": [MINE, MINE]}, "x": 1}, indent=3),
    ],
)
def test_a_file_that_nobody_else_changed_is_what_it_was(home: Path, content: str) -> None:
    settings_of(home).write_bytes(content.encode())
    install()
    install("--fail-open")

    assert uninstall() == 0
    assert settings_of(home).read_bytes() == content.encode()
    assert json.loads((home / ".local/state/latchd/installs.json").read_bytes()) == {}


def test_a_file_that_the_installer_made_is_gone(home: Path) -> None:
    install()
    install("--fail-open")

    assert uninstall() == 0
    assert list((home / ".claude").iterdir()) == []


def test_a_file_that_somebody_wrote_into_keeps_what_they_wrote(home: Path) -> None:
    install()
    text = settings_of(home).read_text()
    settings_of(home).write_text(text.replace("{", '{\n  "model": "opus",', 1))
    uninstall()

    assert json.loads(settings_of(home).read_bytes()) == {"model": "opus"}


def test_a_group_that_holds_anothers_handler_too_stays_with_it(home: Path) -> None:
    content = {"hooks": {"Stop": [{"hooks": [{"type": "command", "command": LINE}, *MINE["hooks"]]}]}}
    settings_of(home).write_text(json.dumps(content))
    uninstall()

    assert json.loads(settings_of(home).read_bytes()) == {"hooks": {"Stop": [MINE]}}


def test_the_record_is_not_needed(home: Path) -> None:
    settings_of(home).write_text('{"a": [1,2]}')
    install()
    (home / ".local/state/latchd/installs.json").unlink()

    assert uninstall() == 0
    assert settings_of(home).read_text() == '{"a": [1,2]}'


def test_every_recorded_file_is_freed_unless_one_is_named(home: Path) -> None:
    install()
    install("--settings", "one.json")
    install("--settings", "two.json")
    uninstall("--settings", "one.json")

    assert [path.exists() for path in (settings_of(home), Path("one.json"), Path("two.json"))] == [
        True,
        False,
        True,
    ]

    uninstall()

    assert [path.exists() for path in (settings_of(home), Path("two.json"))] == [False, False]


def test_a_file_without_our_hooks_is_left(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings_of(home).write_text('{"a": 1}')

    assert uninstall() == 0
    assert capsys.readouterr().out == f"{settings_of(home)} has no hooks of latchd\n"
    assert settings_of(home).read_text() == '{"a": 1}'


def test_a_missing_file_is_no_fault(home: Path) -> None:
    assert uninstall() == 0
    assert not settings_of(home).exists()


def test_a_file_that_is_not_json_is_left(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings_of(home).write_text("{")

    assert uninstall() == 1
    assert capsys.readouterr().err.startswith(
        f"latchctl: `{settings_of(home)}` is left as it is: it is not JSON"
    )
    assert settings_of(home).read_text() == "{"


def test_a_dry_run_changes_nothing(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install()
    before = settings_of(home).read_bytes()
    capsys.readouterr()

    assert uninstall("--dry-run") == 0
    assert "would be changed; nothing was" in capsys.readouterr().out
    assert settings_of(home).read_bytes() == before
    assert "claudecode" in json.loads((home / ".local/state/latchd/installs.json").read_bytes())


def test_the_json_form_says_all_of_it(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    install()
    capsys.readouterr()
    uninstall("--json")
    told = json.loads(capsys.readouterr().out)

    assert {**told, "diff": ""} == {
        "connector": "claudecode",
        "settings": str(settings_of(home)),
        "changed": True,
        "done": True,
        "diff": "",
    }
    assert told["diff"].startswith(f"--- {settings_of(home)}\n+++ /dev/null\n")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(["model", "env", "hooks"]),
        st.dictionaries(
            st.sampled_from(["PreToolUse", "Stop", "Setup"]), st.lists(st.just(MINE), max_size=2)
        ),
    ),
    st.sampled_from([None, 1, 4, "\t"]),
)
def test_any_file_comes_back_to_the_byte(
    tmp_path: Path, content: dict[str, Any], indent: int | str | None
) -> None:
    path = tmp_path / "settings.json"
    places = Places(str(tmp_path), str(tmp_path / "state"), str(tmp_path))
    for old in tmp_path.glob("settings.json*"):
        old.unlink()
    before = json.dumps(content, indent=indent).encode()
    path.write_bytes(before)
    claudecode.install(claudecode.plan_install(path, LINE, "", None), places, LINE, "", "file")
    recorded = ledger.installed(places, "claudecode")[0]
    claudecode.uninstall(claudecode.plan_uninstall(path, recorded), places)

    assert path.read_bytes() == before
