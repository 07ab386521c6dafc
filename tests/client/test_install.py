"""Installing changes what it must of a settings file, nothing else, and only when the agent would obey it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from latch_client import cli
from latch_client.install import claudecode, files, ledger, splice
from latch_client.install.errors import InstallError
from latch_client.install.hook_line import HOOK, hook_line, is_ours, words_of
from latch_contracts.connectors.claudecode import settings as claude
from latch_contracts.places import Places
from latch_contracts.strict_json import as_array, as_object

LINE = f'"{sys.executable}" -IS "{HOOK}" claudecode'
MINE = {"type": "command", "command": "mine"}


class Home:
    """A home directory that latchctl runs in."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings = root / ".claude" / "settings.json"
        self.places = Places(f"{root}/run/latchd", f"{root}/state/latchd", f"{root}/config/latchd")
        self.backup = self.settings.with_name("settings.json.latchd-backup")

    def put(self, content: str | bytes) -> bytes:
        self.settings.parent.mkdir(exist_ok=True)
        self.settings.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.settings.read_bytes()

    def agent(self, script: str) -> None:
        program = self.root / "bin" / "claude"
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)

    def installs(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(Path(self.places.installs).read_bytes())
        return found


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    (tmp_path / "bin").mkdir()
    for name in list(os.environ):
        if name.startswith(("XDG_", "LATCHD_", "CLAUDE_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.chdir(tmp_path)
    return Home(tmp_path)


def install(*words: str) -> int:
    return cli.main(["install", "claudecode", *words])


def test_the_hook_line_is_one_shell_command_of_absolute_paths() -> None:
    assert hook_line("claudecode", fail_open=False, autostart=False) == LINE
    assert hook_line("claudecode", fail_open=True, autostart=True) == f"{LINE} --fail-open --autostart"


def test_a_path_with_the_shells_own_signs_stays_one_word() -> None:
    line = hook_line(
        "claudecode",
        fail_open=False,
        autostart=False,
        python='/a b/$x`"\\/python',
        hook=Path("/c/latch_client/hook.py"),
    )
    words = words_of(line)
    told = subprocess.run(
        ["/bin/sh", "-c", f"printf '%s|' {line}"], capture_output=True, text=True, check=True
    )

    assert told.stdout == '/a b/$x`"\\/python|-IS|/c/latch_client/hook.py|claudecode|'
    assert words is not None
    assert (words.python, words.hook) == ('/a b/$x`"\\/python', "/c/latch_client/hook.py")
    assert is_ours({"command": line}, "claudecode")


@pytest.mark.parametrize("python", ["python3", "/a\n/python"])
def test_a_path_that_cannot_stand_in_a_hook_line_is_refused(python: str) -> None:
    with pytest.raises(InstallError):
        hook_line("claudecode", fail_open=False, autostart=False, python=python)


@pytest.mark.parametrize(
    ("handler", "ours"),
    [
        ({"command": LINE}, True),
        ({"command": f"{LINE} --fail-open"}, True),
        ({"command": '"/old/python" -IS "/gone/latch_client/hook.py" claudecode PreToolUse'}, True),
        ({"command": LINE.replace("claudecode", "codex")}, False),
        ({"command": "/usr/bin/hook.py claudecode"}, False),
        ({"command": 7}, False),
        ({}, False),
    ],
)
def test_a_handler_is_ours_when_it_runs_our_hook_for_that_agent(handler: dict[str, Any], ours: bool) -> None:
    assert is_ours(handler, "claudecode") is ours


def test_a_first_install_makes_a_file_that_the_agent_obeys(home: Home) -> None:
    assert install() == 0

    content = home.settings.read_bytes()

    assert claude.hook_problems(content, LINE) == ()
    assert json.loads(content) == {"hooks": {event: [group] for event, group in claude.groups(LINE).items()}}
    assert not home.backup.exists()
    assert stat.S_IMODE(home.settings.stat().st_mode) == 0o600


def test_installing_twice_changes_nothing_the_second_time(home: Home) -> None:
    home.put('{"model": "opus"}')
    install()
    first = home.settings.read_bytes()
    record = home.installs()

    assert install() == 0
    assert (home.settings.read_bytes(), home.installs()) == (first, record)


def test_every_byte_that_was_there_stays_in_its_order(home: Home) -> None:
    before = home.put(
        '\ufeff{\r\n\t"model" :\t"op\\u0075s",\r\n\r\n\t"é": [ 1.50 ,2e3],"env":{ }\r\n}\r\n\r\n'
    )
    install()
    after = home.settings.read_bytes()
    at = before.rindex(b"\r\n}")

    assert after.startswith(before[:at] + b',\r\n\t"hooks": {\r\n\t\t"PreToolUse": [\r\n')
    assert after.endswith(before[at:])
    assert b"\n" not in after.replace(b"\r\n", b"")


def test_other_peoples_hooks_stay_where_they_are(home: Home) -> None:
    home.put(
        json.dumps({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [MINE]}], "Notification": []}})
    )
    install()
    hooks = json.loads(home.settings.read_bytes())["hooks"]

    assert hooks["PreToolUse"] == [{"matcher": "Bash", "hooks": [MINE]}, claude.groups(LINE)["PreToolUse"]]
    assert hooks["Notification"] == []


def test_the_file_before_is_kept_beside_it_without_a_date(home: Home) -> None:
    before = home.put('{"a": 1}\n')
    install()

    assert home.backup.read_bytes() == before


def test_a_second_backup_of_another_content_gets_a_number(home: Home) -> None:
    home.put('{"a": 1}\n')
    home.backup.write_bytes(b"an older one")
    install()

    assert home.backup.read_bytes() == b"an older one"
    assert home.backup.with_name("settings.json.latchd-backup.1").read_bytes() == b'{"a": 1}\n'


def test_an_older_hook_line_is_replaced_and_not_joined(home: Home) -> None:
    old = '"/old/python" -IS "/gone/latch_client/hook.py" claudecode'
    home.put(splice.with_groups('{"a": 1}', claude.groups(old, "2.1.200")))
    install()

    assert home.settings.read_text() == splice.with_groups('{"a": 1}', claude.groups(LINE))


def test_a_handler_of_ours_that_was_altered_is_put_right(home: Home) -> None:
    install()
    right = home.settings.read_bytes()
    home.settings.write_bytes(right.replace(b'"timeout": 30', b'"timeout": 1', 1))
    install()

    assert home.settings.read_bytes() == right


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{",
        '{"a": 1,}',
        '// comment\n{"a": 1}',
        '{"a": 1, "a": 2}',
        b'{"a": "\xff"}',
        '{"hooks": []}',
        '{"hooks": {"Stop": {}}}',
        '{"disableAllHooks": true}',
        '{"permissions": {"defaultMode": "sometimes"}}',
        json.dumps({"hooks": {"PreToolUse": [{"hooks": [{**MINE, "timeout": "20"}]}]}}),
    ],
)
def test_a_file_with_which_no_hook_would_run_is_refused_in_one_line_and_left(
    home: Home, capsys: pytest.CaptureFixture[str], content: str | bytes
) -> None:
    before = home.put(content)

    assert install() == 1

    told = capsys.readouterr()

    assert told.out == ""
    assert told.err.count("\n") == 1
    assert told.err.startswith(f"latchctl: `{home.settings}` is left as it is: ")
    assert sorted(path.name for path in home.settings.parent.iterdir()) == ["settings.json"]
    assert home.settings.read_bytes() == before
    assert not Path(home.places.installs).exists()


def test_a_dry_run_shows_the_change_and_makes_none(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    before = home.put('{\n  "a": 1\n}\n')

    assert install("--dry-run") == 0

    told = capsys.readouterr().out

    assert told.startswith(f"--- {home.settings}\n+++ {home.settings}\n@@ ")
    assert '+  "hooks": {\n' in told
    assert "would be changed; nothing was" in told
    assert home.settings.read_bytes() == before
    assert sorted(path.name for path in home.root.iterdir()) == [".claude", "bin"]


def test_an_install_without_a_daemon_says_what_that_means(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    install()

    assert capsys.readouterr().out.splitlines()[-3:] == [
        f"{home.settings} has the hooks now",
        "latchd is not running, and until it is the agent is refused every call: `latchctl up`",
        "agent: `claude` is not on PATH or tells no version, so the newest is assumed",
    ]


def test_a_read_only_file_keeps_its_mode(home: Home) -> None:
    home.put("{}")
    home.settings.chmod(0o444)
    install()

    assert stat.S_IMODE(home.settings.stat().st_mode) == 0o444
    assert claude.hook_problems(home.settings.read_bytes(), LINE) == ()


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_directory_is_one_line(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    before = home.put("{}")
    home.settings.parent.chmod(0o500)
    code = install()
    home.settings.parent.chmod(0o700)

    assert (code, capsys.readouterr().err.count("\n")) == (1, 1)
    assert home.settings.read_bytes() == before


def test_a_symbolic_link_stays_one_and_its_target_is_written(home: Home) -> None:
    target = home.root / "dotfiles" / "claude.json"
    target.parent.mkdir()
    target.write_text("{}")
    target.chmod(0o640)
    home.settings.parent.mkdir()
    home.settings.symlink_to(target)
    install()

    assert home.settings.readlink() == target
    assert claude.hook_problems(target.read_bytes(), LINE) == ()
    assert stat.S_IMODE(target.stat().st_mode) == 0o640
    assert home.installs()["claudecode"]["settings"] == str(home.settings)


def test_a_directory_in_the_place_of_the_file_is_refused(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    home.settings.mkdir(parents=True)

    assert install() == 1
    assert capsys.readouterr().err == f"latchctl: `{home.settings}` is not a file\n"


def test_a_file_that_changes_meanwhile_is_not_overwritten(home: Home) -> None:
    home.put('{"a": 1}')
    plan = claudecode.plan_install(home.settings, LINE, "", None)
    home.put('{"a": 2}')

    with pytest.raises(InstallError, match="changed by someone else"):
        claudecode.install(plan, home.places, LINE, "", "user")
    assert home.installs() == {}
    assert home.settings.read_bytes() == b'{"a": 2}'
    assert [path.name for path in home.settings.parent.iterdir() if path.name.startswith(".")] == []


def test_a_state_directory_that_cannot_be_made_stops_it_first(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    before = home.put('{"a": 1}')
    (home.root / "state").touch()

    assert install() == 1
    assert capsys.readouterr().err == f"latchctl: `{home.places.installs}` can't be read: Not a directory\n"
    assert home.settings.read_bytes() == before


def test_what_was_installed_is_recorded_for_the_daemon(home: Home) -> None:
    home.agent("echo '2.1.332 (Claude Code)'")
    home.put("{}")
    install("--fail-open")
    one = {
        "settings": str(home.settings),
        "line": f"{LINE} --fail-open",
        "events": list(claude.REGISTERED),
        "agent_version": "2.1.332",
    }

    assert home.installs() == {
        "claudecode": {**one, "files": [{**one, "scope": "user", "created": False}]},
    }
    assert stat.S_IMODE(Path(home.places.state).stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("config", "opened"),
    [
        ("", False),
        ('fail = "closed"', False),
        ('fail = "open"', True),
        ('[fail]\ndefault = "open"', True),
        ('[fail]\ndefault = "open"\nclaudecode = "closed"', False),
        ('[fail]\nclaudecode = "open"', True),
    ],
)
def test_the_hook_line_carries_the_configs_word_on_failures(home: Home, config: str, opened: bool) -> None:
    Path(home.places.config).mkdir(parents=True)
    Path(home.places.config_file).write_text(config)
    install()

    assert home.installs()["claudecode"]["line"] == (f"{LINE} --fail-open" if opened else LINE)


def test_a_config_that_cannot_be_read_stops_it(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    Path(home.places.config).mkdir(parents=True)
    Path(home.places.config_file).write_text("fail =")

    assert install() == 1
    assert "config.toml` can't be read" in capsys.readouterr().err
    assert not home.settings.exists()


@pytest.mark.parametrize("script", ["echo no version", "exit 3", "echo '2.1.332' >&2"])
def test_an_agent_that_tells_no_version_is_no_hindrance(home: Home, script: str) -> None:
    home.agent(script)

    assert install() == 0
    assert home.installs()["claudecode"]["agent_version"] == ""


def test_an_old_agent_gets_no_key_that_it_does_not_know(home: Home) -> None:
    home.agent("echo '2.1.200 (Claude Code)'")
    install()

    assert b"onFailure" not in home.settings.read_bytes()
    assert b"PreSkillShellCommand" not in home.settings.read_bytes()


def test_a_projects_settings_are_those_of_the_working_directory(home: Home) -> None:
    install("--scope", "project")
    install("--settings", "elsewhere.json")
    install()
    entry = home.installs()["claudecode"]

    assert [one["settings"] for one in entry["files"]] == [
        str(home.settings),
        str(home.root / "elsewhere.json"),
    ]
    assert (entry["settings"], entry["files"][0]["scope"]) == (str(home.settings), "user")


def test_the_agents_own_directory_variable_is_followed(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(home.root / "other"))
    install()

    assert claude.hook_problems((home.root / "other" / "settings.json").read_bytes(), LINE) == ()


def test_a_damaged_record_is_told_and_not_overwritten(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    Path(home.places.state).mkdir(parents=True)
    Path(home.places.installs).write_text("{")

    assert install() == 1
    assert "is damaged" in capsys.readouterr().err
    assert Path(home.places.installs).read_text() == "{"
    assert not home.settings.exists()


@pytest.mark.parametrize(
    "words",
    [
        ["install"],
        ["install", "nobody"],
        ["install", "claudecode", "--now"],
        ["install", "claudecode", "--settings", ""],
    ],
)
def test_a_command_line_that_makes_no_sense_is_refused(
    home: Home, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    assert cli.main(words) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not home.settings.exists()


def test_the_json_form_says_all_of_it(home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    home.put("{}")
    install("--json")
    told = json.loads(capsys.readouterr().out)

    assert {**told, "diff": ""} == {
        "connector": "claudecode",
        "settings": str(home.settings),
        "line": LINE,
        "agent_version": "",
        "changed": True,
        "done": True,
        "backup": str(home.backup),
        "diff": "",
    }


def test_the_connectors_are_listed_with_where_they_are_installed(
    home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    install()
    capsys.readouterr()

    assert cli.main(["connectors"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split() == ["CONNECTOR", "VERSIONS", "LEVEL", "EVENTS", "INSTALLED", "IN"]
    assert row.split() == ["claudecode", ">=2.1.152", "paired-outcomes", "34", str(home.settings)]

    cli.main(["connectors", "--json"])
    assert json.loads(capsys.readouterr().out)["installed"] == [str(home.settings)]


def test_an_entry_is_forgotten_with_its_last_file(home: Home) -> None:
    for name in ("a", "b"):
        ledger.add(home.places, "claudecode", ledger.Installed(settings=f"/{name}", line=LINE))
    ledger.remove(home.places, "claudecode", "/a")

    assert [one.settings for one in ledger.installed(home.places, "claudecode")] == ["/b"]

    ledger.remove(home.places, "claudecode", "/b")

    assert ledger.load(home.places) == {}


# The text of a settings file, whatever its blanks: the installer never lays it out anew.

blanks = st.sampled_from(["", " ", "\n", "\n  ", "\t", "\r\n"])
scalars = st.sampled_from(
    ["1", "-2.50e1", "true", "null", '""', '"a\\"b\\\\"', '"{[,:]}"', '"\u00e9\U0001f512"']
)


@st.composite
def laid_out(draw: st.DrawFn, value: Any) -> str:
    """The JSON of a value with drawn blanks around every token; a string in it is raw JSON already."""

    def blank() -> str:
        return draw(blanks)

    def lay(part: Any) -> str:
        if (members := as_object(part)) is not None:
            laid = [
                f"{blank()}{json.dumps(key)}{blank()}:{blank()}{lay(one)}{blank()}"
                for key, one in members.items()
            ]
            return "{" + (",".join(laid) or blank()) + "}"
        if (array := as_array(part)) is not None:
            return "[" + (",".join(f"{blank()}{lay(one)}{blank()}" for one in array) or blank()) + "]"
        return str(part)

    return blank() + lay(value) + blank()


handler_lists = st.lists(
    st.fixed_dictionaries({"type": st.just('"command"'), "command": st.sampled_from(['"mine"', '"other"'])}),
    max_size=2,
)
group_lists = st.lists(
    st.fixed_dictionaries({"hooks": handler_lists}, optional={"matcher": st.just('"Bash"')}), max_size=3
)
hook_tables = st.dictionaries(
    st.sampled_from(["PreToolUse", "Stop", "Notification", "SessionEnd"]), group_lists, max_size=3
)
settings_texts = st.fixed_dictionaries(
    {},
    optional={
        "model": scalars,
        "env": st.just({}),
        "list": st.lists(scalars, max_size=3),
        "hooks": hook_tables,
    },
).flatmap(lambda value: laid_out(value))


def ours(handler: Any) -> bool:
    return is_ours(handler, "claudecode")


@given(settings_texts)
def test_what_is_put_in_is_all_that_is_new(text: str) -> None:
    after = splice.with_groups(text, claude.groups(LINE))
    wanted = json.loads(text)
    for event, group in claude.groups(LINE).items():
        wanted.setdefault("hooks", {}).setdefault(event, []).append(group)

    assert json.loads(after) == wanted
    assert claude.hook_problems(after.encode(), LINE) == ()


@given(settings_texts)
def test_taking_out_leaves_what_was_there_but_for_containers_that_held_nothing(text: str) -> None:
    after = splice.without_groups(splice.with_groups(text, claude.groups(LINE)), ours)
    members: dict[str, Any] = json.loads(text)
    hooks: dict[str, list[Any]] | None = members.get("hooks")
    if hooks is None or (hooks and all(hooks.get(event, [0]) for event in claude.REGISTERED)):
        assert after == text or not members
    kept = {
        event: groups for event, groups in (hooks or {}).items() if groups or event not in claude.REGISTERED
    }
    wanted = {key: value for key, value in members.items() if key != "hooks"} | (
        {"hooks": kept} if kept else {}
    )

    assert json.loads(after) == wanted


@given(settings_texts)
def test_a_text_without_our_handlers_is_left_to_the_byte(text: str) -> None:
    assert splice.without_groups(text, ours) == text


@given(settings_texts, st.data())
def test_handlers_are_cut_from_between_others(text: str, data: st.DataObject) -> None:
    gone = data.draw(st.sampled_from(["mine", "other"]))
    after = splice.without_groups(text, lambda handler: handler["command"] == gone)
    left = [handler["command"] for _, handler in splice.handlers(text) if handler["command"] != gone]

    assert [handler["command"] for _, handler in splice.handlers(after)] == left


def test_backups_are_found_newest_first(tmp_path: Path) -> None:
    made = [files.back_up(tmp_path / "s.json", content) for content in (b"1", b"2", b"1", b"3")]

    assert [path.name for path in made] == [
        "s.json.latchd-backup",
        "s.json.latchd-backup.1",
        "s.json.latchd-backup",
        "s.json.latchd-backup.2",
    ]
    assert files.backups(tmp_path / "s.json") == [made[3], made[1], made[0]]
