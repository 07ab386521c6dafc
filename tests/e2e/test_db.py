"""`latchctl db` on the database of a real daemon, running and stopped."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from latch_client.cli import main
from running_daemon import OK, daemon, places, tool


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    found = places(tmp_path)
    monkeypatch.setenv("LATCHD_RUNTIME_DIR", found.runtime)
    monkeypatch.setenv("LATCHD_STATE_DIR", found.state)
    monkeypatch.setenv("LATCHD_CONFIG_DIR", found.config)
    return tmp_path


def exported(capsys: pytest.CaptureFixture[str], *options: str) -> list[dict[str, object]]:
    capsys.readouterr()
    assert main(["db", "export", *options]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_the_database_of_a_running_daemon_is_checked_copied_and_read_out(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with daemon(root) as running:
        running.hook("PreToolUse", **tool("git status", "c1"))
        running.hook("PostToolUse", **tool("git status", "c1"), tool_response=OK)
        running.hook("PreToolUse", **tool("rm -rf ~", "c2"))

        assert main(["db", "check"]) == 0
        assert "✗" not in capsys.readouterr().out
        assert main(["db", "backup", str(root / "copy.db")]) == 0
        records = exported(capsys)
        later = exported(capsys, "--since", str(records[0]["seq"]))
        state = exported(capsys, "--state")
        assert main(["db", "vacuum"]) == 1
        refused = capsys.readouterr().err

    assert [record["type"] for record in records if record["type"] in ("verdict", "outcome", "denial")] == [
        "verdict",
        "outcome",
        "verdict",
        "denial",
    ]
    assert later == records[1:]
    assert [row["state"] for row in state if row["table"] == "calls"] == ["succeeded", "denied"]
    assert "git status" not in json.dumps(state)
    assert "latchctl down" in refused
    assert refused.count("\n") == 1
    with sqlite3.connect(root / "copy.db") as copy:
        assert copy.execute("SELECT count(*) FROM steps").fetchone() == (1,)


def test_a_stopped_daemons_database_can_be_checked_and_shrunk(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with daemon(root) as running:
        running.hook("PreToolUse", **tool("git status", "c1"))

    assert main(["db", "vacuum"]) == 0
    assert main(["db", "check", "--json"]) == 0
    findings = [json.loads(line) for line in capsys.readouterr().out.splitlines()[1:]]
    assert [finding["check"] for finding in findings if finding["breaches"]] == []


def test_a_state_that_breaks_a_promise_is_named(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with daemon(root) as running:
        running.hook("PreToolUse", **tool("git status", "c1"))
    with sqlite3.connect(places(root).database) as database:
        database.execute("UPDATE calls SET state = 'succeeded'")

    assert main(["db", "check"]) == 1
    assert "✗ final-is-closed" in capsys.readouterr().out


def test_whatever_is_wrong_with_the_file_is_one_line(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["db", "check"]) == 1
    assert capsys.readouterr().err == f"latchctl: there is no database `{places(root).database}`\n"

    path = Path(places(root).database)
    path.parent.mkdir(parents=True)
    path.write_bytes(b"no database at all" * 300)
    assert main(["db", "export"]) == 1
    assert capsys.readouterr().err.count("\n") == 1

    path.unlink()
    with sqlite3.connect(path) as foreign:
        foreign.execute("CREATE TABLE t (a)")
    assert main(["db", "check"]) == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_a_backup_overwrites_nothing_neither_a_file_nor_the_database_itself(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target, link = root / "mine", root / "link"
    target.write_text("mine")
    link.symlink_to(root / "nowhere")
    with daemon(root) as running:
        running.hook("PreToolUse", **tool("git status", "c1"))
        for taken in (target, root, link, Path(places(root).database)):
            assert main(["db", "backup", str(taken)]) == 1
            assert capsys.readouterr().err == f"latchctl: `{taken}` exists; name a new file\n"
        assert main(["db", "check"]) == 0
        assert running.status().health == "ok"

    assert target.read_text() == "mine"
    assert sorted(one.name for one in root.glob(".*")) == []


@pytest.mark.parametrize(
    ("directory", "why"), [("nowhere", "no such file or directory"), ("mine", "not a directory")]
)
def test_a_backup_that_can_not_be_written_is_one_line(
    root: Path, capsys: pytest.CaptureFixture[str], directory: str, why: str
) -> None:
    (root / "mine").write_text("mine")
    target = root / directory / "copy.db"
    with daemon(root):
        assert main(["db", "backup", str(target)]) == 1

    assert capsys.readouterr().err == f"latchctl: `{target}` can't be written: {why}\n"
