"""The write gates in their order, for tools and for the shell; readers by exclusion."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from guard_cases import PROJECT, call, edit, read, shell, subject, write
from latch_contracts.contract import Surface
from latch_contracts.verdict import Action, Verdict
from latchd.files import FileView, Knowledge
from latchd.guard.subject import Subject
from latchd.guard.walk import judge
from latchd.policy import Policy, Profile, parse


def rules(verdict: Verdict) -> list[str]:
    return [finding.rule for finding in verdict.findings]


def test_a_new_file_inside_the_roots_passes() -> None:
    path = f"{PROJECT}/new.py"

    assert (
        judge(write(path, files={path: FileView(path, knowledge=Knowledge.UNKNOWN)})).action is Action.ALLOW
    )


def test_a_path_outside_the_write_roots_is_said_before_anything_else() -> None:
    found = judge(write("/home/dev/.ssh/authorized_keys", policy=Policy(profile=Profile.STRICT)))

    assert (found.action, found.rule) == (Action.DENY, "write.outside-roots")


def test_outside_is_a_question_and_persistence_a_refusal_so_the_refusal_stands() -> None:
    assert judge(write("/home/dev/other/a.txt")).action is Action.ASK
    assert judge(write("/home/dev/.bashrc")).rule == "write.persistence"


def test_the_cwd_is_the_root_when_none_is_configured() -> None:
    assert judge(write("/home/dev/work/a.txt", cwd="/home/dev/work")).action is Action.ALLOW
    assert judge(write("/home/dev/work/a.txt")).rule == "write.outside-roots"


def test_configured_roots_replace_the_cwd() -> None:
    policy = parse(b'write_roots = ["~/work"]')

    assert judge(write("/home/dev/work/a.txt", policy=policy)).action is Action.ALLOW
    assert judge(write(f"{PROJECT}/a.txt", policy=policy)).rule == "write.outside-roots"


def test_dot_dot_cannot_climb_out() -> None:
    assert judge(write(f"{PROJECT}/../other/a.txt")).rule == "write.outside-roots"


def test_a_symlink_out_of_the_root_is_outside() -> None:
    path = f"{PROJECT}/link/a.txt"

    assert (
        judge(write(path, files={path: FileView(path, real="/srv/data/a.txt")})).rule == "write.outside-roots"
    )


def test_a_symlinked_root_is_inside_itself() -> None:
    path = f"{PROJECT}/a.txt"
    files = {
        PROJECT: FileView(PROJECT, exists=True, is_dir=True, real="/data/project"),
        path: FileView(path, real="/data/project/a.txt"),
    }

    assert judge(write(path, files=files)).action is Action.ALLOW


def test_a_protected_fragment_beats_persistence_beats_credential() -> None:
    policy = Policy(protected=("deploy",))

    assert rules(judge(write(f"{PROJECT}/deploy/.vscode/tasks.json", policy=policy))) == [
        "write.protected",
        "write.persistence",
    ]
    assert rules(judge(write(f"{PROJECT}/.envrc"))) == ["write.persistence", "write.credential"]
    assert judge(write(f"{PROJECT}/.git/hooks/pre-commit")).rule == "write.protected"


def test_a_credential_is_refused_inside_a_root_too() -> None:
    assert judge(write(f"{PROJECT}/.env")).rule == "write.credential"
    assert judge(write(f"{PROJECT}/.env.example")).action is Action.ALLOW


@pytest.mark.parametrize("make", [write, edit], ids=["write", "edit"])
def test_stale_refuses_write_and_edit_and_says_changed(make: Callable[..., Subject]) -> None:
    path = f"{PROJECT}/a.py"
    verdict = judge(
        make(path, files={path: FileView(path, exists=True, real=path, knowledge=Knowledge.STALE)})
    )

    assert (verdict.action, verdict.rule) == (Action.DENY, "write.stale")
    assert "has changed since it was read" in verdict.reason


def test_unknown_and_existing_refuses_write_only() -> None:
    path = f"{PROJECT}/a.py"
    files = {path: FileView(path, exists=True, real=path, knowledge=Knowledge.UNKNOWN)}

    assert (judge(write(path, files=files)).action, judge(write(path, files=files)).rule) == (
        Action.ASK,
        "write.overwrite-unknown",
    )
    assert judge(edit(path, files=files)).action is Action.ALLOW


def test_a_connector_without_paired_outcomes_never_refuses_for_staleness() -> None:
    path = f"{PROJECT}/a.py"

    assert judge(write(path, files={path: FileView(path, exists=True, real=path)})).action is Action.ALLOW


@pytest.mark.parametrize(
    "command",
    [
        "echo x > ~/.bashrc",
        "echo x >> ~/.bashrc",
        "echo x | tee ~/.bashrc",
        "cp a ~/.bashrc",
        "mv a ~/.bashrc",
        "install a ~/.bashrc",
        "ln -sf a ~/.bashrc",
        "dd if=a of=/home/dev/.bashrc",
        "sed -i s/a/b/ ~/.bashrc",
    ],
)
def test_a_shells_writes_meet_the_same_gates(command: str) -> None:
    assert "write.persistence" in rules(judge(shell(command)))


def test_an_existing_file_outside_that_the_shell_replaces_is_destroyed() -> None:
    path = "/home/dev/notes.txt"
    there = {path: FileView(path, exists=True, real=path)}

    assert judge(shell("echo x > ~/notes.txt", files=there)).rule == "fs.overwrite-outside"
    assert judge(shell("echo x > ~/notes.txt")).rule == "write.outside-roots"


def test_each_path_of_a_patch_is_judged() -> None:
    patch = "*** Begin Patch\n*** Add File: a.txt\n+x\n*** Update File: b.txt\n*** Move to: ../c.txt\n"

    verdict = judge(subject(call("apply_patch", Surface.PATCH, {"input": patch})))

    assert [(finding.rule, finding.target) for finding in verdict.findings] == [
        ("write.outside-roots", "/home/dev/c.txt")
    ]


def test_a_tool_the_guard_has_never_heard_of_is_still_a_reader() -> None:
    deep = {"options": {"inputs": [{"file": "/home/dev/.aws/credentials"}]}}

    assert judge(subject(call("mcp__odd__thing", Surface.MCP, deep))).rule == "credential.read"
    assert judge(subject(call("Novelty", Surface.GENERIC, {"x": "~/.ssh/id_rsa"}))).rule == "credential.read"


def test_grep_and_glob_over_a_credential_directory_are_refused() -> None:
    grep = call("Grep", Surface.SEARCH, {"pattern": "x", "path": "/home/dev/.aws"}, paths=("/home/dev/.aws",))
    glob = call("Glob", Surface.SEARCH, {"pattern": "~/.ssh/*"})
    braces = call("Grep", Surface.SEARCH, {"pattern": "x", "glob": "{.env.local,a.ts}"})

    assert [judge(subject(each)).rule for each in (grep, glob, braces)] == ["credential.read"] * 3


def test_a_reader_of_a_public_key_or_a_template_passes() -> None:
    assert judge(read("/home/dev/.ssh/id_ed25519.pub")).action is Action.ALLOW
    assert judge(read(f"{PROJECT}/.env.example")).action is Action.ALLOW


def test_a_link_to_a_credential_is_a_credential() -> None:
    path = f"{PROJECT}/cfg/settings"
    files = {path: FileView(path, exists=True, real="/home/dev/.aws/credentials")}

    assert judge(read(path, files=files)).rule == "credential.read"
    assert judge(shell("cat cfg/settings", files=files)).rule == "credential.read"


def test_a_search_for_words_about_danger_is_no_danger() -> None:
    assert (
        judge(subject(call("WebSearch", Surface.SEARCH, {"query": "recover after rm -rf /"}))).action
        is Action.ALLOW
    )


def test_sql_that_a_tool_sends_is_judged_by_its_statements() -> None:
    def sent(query: str) -> str | None:
        return judge(subject(call("mcp__supabase__execute_sql", Surface.MCP, {"query": query}))).rule

    assert sent("DROP TABLE users;") == "db.tool-loss"
    assert sent("select 1; delete from users") == "db.tool-loss"
    assert sent("delete from users where id = 1") is None
    assert sent("select 'drop table x'") is None


def test_a_removal_follows_a_link_only_when_the_shell_would() -> None:
    path = f"{PROJECT}/logs"
    files = {path: FileView(path, exists=True, is_dir=True, real="/home/dev/data")}

    assert judge(shell("rm -rf logs/", files=files)).rule == "fs.delete-outside"
    assert judge(shell("rm -rf logs", files=files)).action is Action.ALLOW


def test_a_directory_with_a_repository_of_its_own_is_not_just_a_directory() -> None:
    path = f"{PROJECT}/vendored"
    files = {path: FileView(path, exists=True, is_dir=True, real=path, holds_git=True)}

    assert judge(shell("rm -rf vendored", files=files)).rule == "fs.delete-git"


def test_discards_in_a_linked_work_tree_pass_only_when_the_policy_says_so() -> None:
    marker = f"{PROJECT}/.git"
    files = {marker: FileView(marker, exists=True, is_dir=False, real=marker)}
    relaxed = Policy(worktree="relaxed")

    assert judge(shell("git reset --hard", files=files)).rule == "git.discard-work"
    assert judge(shell("git reset --hard", files=files, policy=relaxed)).action is Action.ALLOW
    assert judge(shell("git reset --hard", policy=relaxed)).rule == "git.discard-work"
