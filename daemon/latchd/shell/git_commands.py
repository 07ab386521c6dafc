"""Commands that git runs because its words say so: aliases, configured programs, bisect, rebase -x."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument, Reach
from latchd.shell.child import Child, Unwrapped, joined, quoted, split_words, word_at
from latchd.shell.directories import moved, named
from latchd.shell.listing import Input
from latchd.shell.parse import code_text
from latchd.shell.wrappers import Options

_GIT_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
)
_MOVES: Final = Options(values="c", directory=frozenset({"-C"}))
_GIT_CODE = re.compile(
    r"(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|pager\..*|sequence\.editor|diff\.external"
    r"|diff\..*\.(command|textconv)|merge(tool)?\..*\.(driver|cmd)|difftool\..*\.cmd|filter\..*\.(clean|smudge|process)"
    r"|credential(\..*)?\.helper|gpg(\..*)?\.program|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack))=(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def git(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """git's own options up to the verb, then what the verb's words start."""
    children: list[Child] = []
    index = 1
    aliases: dict[str, str] = {}
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        if value == "-c" and index + 1 < len(words):
            setting = words[index + 1].value
            name, _, body = setting.partition("=")
            if name.lower().startswith("alias."):
                aliases[name[6:]] = body
            else:
                children += _setting(setting, Reach.CONDITIONAL)
        index += 2 if value in _GIT_VALUES else 1
    verb = word_at(words, index).value
    rest = words[index + 1 :]
    if verb in aliases:
        body = aliases[verb]
        if body.startswith("!"):
            children.append(Child(code=code_text(body[1:]) + " " + quoted(rest), head=index + 1))
        else:
            parts = tuple(Argument(part, expands="\0" in part) for part in body.split())
            children.append(Child((Argument("git"), *parts, *rest), head=index + 1))
    if verb == "bisect" and rest and rest[0].value == "run":
        children.append(Child(tuple(rest[1:]), head=index + 2, reach=Reach.CONDITIONAL))
    elif verb == "submodule":
        children += _foreach(rest, index + 2)
    elif verb == "config":
        children += _configured(rest)
    if verb in _GIT_OPTION_CODE:
        children += _git_options(verb, rest)
    if verb in _TRANSPORTS:
        children += _transport(rest, Reach.DEFERRED if verb == "remote" else Reach.CONDITIONAL)
    return Unwrapped(moved(children, named(words, index, _MOVES)))


def _setting(setting: str, reach: Reach) -> list[Child]:
    """The code in `key=value`, where git runs the values of that key; an alias as `!code`."""
    name, _, body = setting.partition("=")
    if name.lower().startswith("alias."):
        return [Child(code=code_text(body[1:]), reach=reach, wraps=False)] if body.startswith("!") else []
    match = _GIT_CODE.match(setting)
    if match is None:
        return []
    code = match.groups()[-1].removeprefix("!")
    if name.lower().endswith("hookspath") or code in ("", "true", "false"):
        return []
    return [Child(code=code_text(code), reach=reach, wraps=False)]


def _foreach(rest: Sequence[Argument], head: int) -> list[Child]:
    place = next((i for i, word in enumerate(rest) if word.value == "foreach"), -1)
    body = [word for word in rest[place + 1 :] if word.value not in ("--recursive", "--quiet", "-q")]
    return [Child(code=joined(body), head=head, reach=Reach.CONDITIONAL)] if place >= 0 and body else []


def _configured(rest: Sequence[Argument]) -> list[Child]:
    """`git config KEY VALUE` and `git config set KEY VALUE`: later git commands run the value."""
    for word, value in itertools.pairwise(rest):
        if "." in word.value and not word.value.startswith("-"):
            return _setting(f"{word.value}={value.value}", Reach.DEFERRED)
    return []


def _transport(rest: Sequence[Argument], reach: Reach) -> list[Child]:
    """`ext::COMMAND` as the address of a repository."""
    return [
        Child(split_words(re.sub(r"%[sSGV]|%(?= )", "", word.value[5:])), reach=reach, wraps=False)
        for word in rest
        if word.value.startswith("ext::")
    ]


_TRANSPORTS: Final = frozenset(
    ("clone", "fetch", "pull", "push", "ls-remote", "remote", "submodule", "archive")
)
_GIT_OPTION_CODE: Final = {
    "rebase": ("-x", "--exec"),
    "filter-branch": ("--tree-filter", "--index-filter", "--env-filter", "--msg-filter", "--commit-filter",
                      "--parent-filter", "--tag-name-filter", "--setup"),
    "difftool": ("-x", "--extcmd"),
    "grep": ("-O", "--open-files-in-pager"),
    "clone": ("-u", "--upload-pack"), "fetch": ("--upload-pack",), "pull": ("--upload-pack",),
    "push": ("--receive-pack", "--exec"), "ls-remote": ("--upload-pack", "--exec"), "archive": ("--exec",),
}  # fmt: skip


def _git_options(verb: str, rest: Sequence[Argument]) -> list[Child]:
    children: list[Child] = []
    names = _GIT_OPTION_CODE[verb]
    for index, word in enumerate(rest):
        if verb == "clone" and rest[index - 1].value in ("-c", "--config") and index:
            children += _setting(word.value, Reach.CONDITIONAL)
        name, equals, value = word.value.partition("=")
        code = ""
        if word.value in names and word.value != "-O":
            code = word_at(rest, index + 1).value
        elif equals and name in names:
            code = value
        elif (verb in ("rebase", "difftool") and word.value.startswith("-x") and len(word.value) > 2) or (
            verb == "grep" and word.value.startswith("-O")
        ):
            code = word.value[2:]
        if code:
            children.append(Child(code=code_text(code), reach=Reach.CONDITIONAL, wraps=False))
    return children
