"""Work and history that version control would give up, as the grammar of git proves it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from latch_contracts.facts import Command, Operation
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.grammar.registry import plain_name

_PROGRAMS: Final = frozenset("git hg svn jj fossil bzr sl got".split())
_LOSSES: Final = ("discard-work", "history-loss", "remote-loss", "ref-delete")


def _detail(detail: str, says: str, instead: str) -> Callable[[Subject], Iterator[Hit]]:
    def check(subject: Subject) -> Iterator[Hit]:
        for command in subject.acting():
            if (
                plain_name(command.program) in _PROGRAMS
                and detail in command.details
                and not _excused(subject, command, detail)
            ):
                yield Hit(command.id, _verb(command), says, instead)

    return check


def _excused(subject: Subject, command: Command, detail: str) -> bool:
    if detail == "remote-loss" and "lease" in command.details:
        return True
    if detail == "ref-delete" and "preserves-work" in command.details:
        return True
    if detail == "discard-work" and subject.policy.worktree == "relaxed":
        view = subject.view(f"{subject.facts.cwd}/.git")
        # In a linked work tree .git is a file; with it named by option, or not seen, nothing is relaxed.
        return (
            view is not None and view.exists and not view.is_dir and "other-repository" not in command.details
        )
    return False


def _verb(command: Command) -> str:
    """The first words that say what git does."""
    return " ".join(word for word in command.argv[:3] if "\0" not in word)[:60]


def _work_loss(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.WORK_LOSS in command.operations and not any(loss in command.details for loss in _LOSSES):
            yield Hit(
                command.id,
                _verb(command),
                "this gives up work that is nowhere else",
                "commit or stash it first",
            )


def _sets_config(subject: Subject, *, lasting: bool) -> Iterator[Hit]:
    for command in subject.acting():
        if "executing-config" not in command.details or _is_lasting(command) is not lasting:
            continue
        when = "later" if lasting else "by this command"
        yield Hit(
            command.id,
            _verb(command),
            f"this sets a key whose value is run {when}",
            "run the command itself where it is needed",
        )


def _is_lasting(command: Command) -> bool:
    """`git -c key=value verb` holds for that one command; whatever else sets a key keeps it."""
    return command.program != "git" or "config" in command.argv or "-c" not in command.argv


def _executing_config(subject: Subject) -> Iterator[Hit]:
    return _sets_config(subject, lasting=True)


def _passing_config(subject: Subject) -> Iterator[Hit]:
    return _sets_config(subject, lasting=False)


_TRANSFERS: Final = frozenset("fetch pull clone ls-remote push archive fetch-pack send-pack".split())
_HELPERS: Final = re.compile(r"--(?:upload-pack|receive-pack|exec)=(?P<told>.*)", re.DOTALL)
_PAGERS: Final = re.compile(r"(?:-O|--open-files-in-pager=|--extcmd=)(?P<told>.+)", re.DOTALL)
_PLAIN: Final = re.compile(r"(?:[\w./~-]{0,256}/)?git[- ](?:upload|receive)-(?:pack|archive)\Z")


def _foreign_helper(subject: Subject) -> Iterator[Hit]:
    """A program of one's own where git's is started, here or on the other machine."""
    for command in subject.acting():
        words = command.argv[1:]
        if command.program != "git":
            continue
        if _TRANSFERS & set(words):
            told = [found["told"] for word in words if (found := _HELPERS.match(word))]
            told = [value for value in told if not _PLAIN.match(value)]
        elif {"grep", "difftool"} & set(words[:3]):
            told = [found["told"] for word in words if (found := _PAGERS.match(word))]
            told += [
                words[at + 1] for at, word in enumerate(words[:-1]) if word == "-x" and "difftool" in words
            ]
            told = [value for value in told if "/" in value or " -c" in value]
        else:
            continue
        if told:
            shown = told[0].replace("\0", "$…")[:60]
            yield Hit(
                command.id,
                shown,
                f"git starts `{shown}` here or on the other machine",
                "leave git's own program",
            )


RULES: Final = (
    Rule(
        "git.foreign-helper",
        "git starts a program of one's own in place of its",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _foreign_helper,
        denies=(
            "git ls-remote --upload-pack=./evil ssh://h.example/a",
            "git grep -O'sh -c x' foo",
            "git difftool -x 'sh -c x'",
        ),
        passes=(
            "git fetch --upload-pack=/opt/bin/git-upload-pack origin",
            "git grep -Oless foo",
            "git difftool -x meld",
            "git rebase --exec='make test' main",
        ),
    ),
    Rule(
        "git.discard-work",
        "uncommitted work is thrown away",
        Group.GIT_LOSS,
        Severity.HIGH,
        _detail(
            "discard-work",
            "this throws uncommitted work away",
            "commit or `git stash push` it first, or ask the person",
        ),
        denies=(
            "git reset --hard",
            "git checkout -- src/a.py",
            "git clean -fd",
            "git restore a.py",
            "git checkout -f main",
            "git -C sub reset --hard HEAD~1",
            "git switch --discard-changes main",
            "bash -c 'git reset --hard'",
            "git.exe reset --hard",
            "GIT reset --hard",
            "git restore -p",
            "git checkout -p HEAD~1",
            "git restore --staged --worktree --patch a.py",
        ),
        passes=(
            "git reset --soft HEAD~1",
            "git checkout -b new",
            "git clean -n",
            "git restore --staged a",
            "git restore --staged -p",
            "git restore --no-staged a",
            "git add -p",
            "git reset -p",
            "git log -p",
            "git status",
            "git commit -m 'git reset --hard'",
        ),
    ),
    Rule(
        "git.history-loss",
        "commits or stashes become unreachable",
        Group.GIT_LOSS,
        Severity.HIGH,
        _detail(
            "history-loss",
            "this makes commits or stashes unreachable",
            "keep a branch or tag on them first, or ask the person",
        ),
        denies=("git reflog expire --expire=now --all", "git filter-branch --all"),
        passes=("git stash list", "git stash push", "git log", "git rebase main"),
    ),
    Rule(
        "git.remote-loss",
        "a remote ref is overwritten or removed",
        Group.GIT_LOSS,
        Severity.HIGH,
        _detail(
            "remote-loss",
            "this overwrites or removes refs of the remote",
            "push a new branch instead, or ask the person",
        ),
        denies=(
            "git push --force",
            "git push -f origin main",
            "git push origin +HEAD:main",
            "git push origin a:+a",
            "git push --delete origin x",
            "git push --mirror",
        ),
        passes=("git push", "git push origin main", "git push --force-with-lease"),
    ),
    Rule(
        "git.ref-delete",
        "a branch or tag is removed",
        Group.GIT_LOSS,
        Severity.MEDIUM,
        _detail("ref-delete", "this removes a branch, tag or other ref", "keep it, or ask the person"),
        denies=("git branch -D old", "git tag -d v1"),
        passes=("git branch new", "git tag v1", "git branch --list", "git branch -d merged"),
    ),
    Rule("git.work-loss", "version control gives up work", Group.GIT_LOSS, Severity.HIGH, _work_loss),
    Rule(
        "git.executing-config",
        "a configuration key that is run later is set",
        Group.PERSISTENCE,
        Severity.HIGH,
        _executing_config,
        denies=(
            "git config core.hooksPath .tools/h",
            "git config --global alias.x '!sh'",
            "git config credential.helper '!f(){ gh auth git-credential; };f'",
            "git config core.sshCommand 'ssh -o ProxyCommand=./x'",
            "npm config set script-shell /tmp/x",
        ),
        passes=(
            "git config user.name me",
            "git config --get core.hooksPath",
            "npm config set fund false",
            "git -c core.sshCommand=./h fetch",
            "git config credential.helper '!gh auth git-credential'",
            "git config core.sshCommand 'ssh -i ~/.ssh/deploy'",
        ),
    ),
    Rule(
        "git.passing-config",
        "a key that is run is set for one command",
        Group.CANNOT_VOUCH,
        Severity.MEDIUM,
        _passing_config,
        denies=("git -c core.sshCommand=./h fetch", "git -c diff.external=./d diff"),
        passes=("git -c user.name=me commit -m x", "git config core.hooksPath .tools/h"),
    ),
)
