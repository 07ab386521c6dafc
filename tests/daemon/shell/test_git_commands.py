"""What git runs because its words say so."""

from __future__ import annotations

import pytest

from latch_contracts.facts import Argument, Reach
from latchd.shell.git_commands import git
from latchd.shell.listing import Input


def started(*words: str) -> list[tuple[str, Reach]]:
    found = git(tuple(Argument(word) for word in ("git", *words)), Input()).children
    return [
        (" ".join(word.value for word in child.words) if child.words is not None else child.code, child.reach)
        for child in found
    ]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("-c", "core.pager=a b", "log"), "a b"),
        (("-c", "core.sshCommand=a b", "fetch"), "a b"),
        (("-c", "credential.helper=!a b", "fetch"), "a b"),
        (("-c", "diff.x.textconv=a", "diff"), "a"),
        (("-C", "d", "-c", "core.editor=a", "commit"), "a"),
        (("bisect", "run", "a", "b"), "a b"),
        (("rebase", "-x", "a b", "main"), "a b"),
        (("rebase", "--exec=a b", "main"), "a b"),
        (("rebase", "-xa b", "main"), "a b"),
        (("submodule", "foreach", "--recursive", "a b"), "a b"),
        (("filter-branch", "--tree-filter", "a b", "HEAD"), "a b"),
        (("difftool", "-y", "--extcmd=a b"), "a b"),
        (("grep", "-Oa b", "x"), "a b"),
        (("fetch", "--upload-pack", "a b", "h"), "a b"),
        (("push", "--receive-pack=a", "h"), "a"),
        (("clone", "-c", "core.fsmonitor=a b", "h"), "a b"),
        (("clone", "--config", "core.pager=a", "h"), "a"),
        (("clone", "ext::a b %S x"), "a b x"),
    ],
)
def test_options_and_settings_may_start_a_command(words: tuple[str, ...], code: str) -> None:
    assert started(*words) == [(code, Reach.CONDITIONAL)]


def test_an_alias_of_the_same_line_is_what_it_stands_for() -> None:
    assert started("-c", "alias.z=!a b", "z", "c d") == [("a b 'c d'", Reach.ALWAYS)]
    assert started("-c", "alias.z=reset --hard", "z", "x") == [("git reset --hard x", Reach.ALWAYS)]
    assert started("-c", "alias.z=!a b", "log") == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("config", "alias.z", "!a b"), "a b"),
        (("config", "--global", "core.pager", "a b"), "a b"),
        (("config", "set", "core.editor", "a"), "a"),
        (("remote", "add", "x", "ext::a b"), "a b"),
    ],
)
def test_a_setting_that_is_kept_runs_later(words: tuple[str, ...], code: str) -> None:
    assert started(*words) == [(code, Reach.DEFERRED)]


@pytest.mark.parametrize(
    "words",
    [
        ("log", "--grep=a"),
        ("commit", "-m", "-x a"),
        ("-c", "user.name=a", "commit"),
        ("-c", "core.fsmonitor=false", "status"),
        ("config", "alias.z", "log --oneline"),
        ("config", "core.hooksPath", "a"),
        ("config", "--get", "core.pager"),
        ("bisect", "start"),
        ("rebase", "main"),
        ("grep", "-O"),
        ("clone", "https://h/r"),
    ],
)
def test_other_words_start_nothing(words: tuple[str, ...]) -> None:
    assert started(*words) == []
