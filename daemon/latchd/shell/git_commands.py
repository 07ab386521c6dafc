"""Commands that git runs because its words say so: aliases, configured programs, bisect, rebase -x."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import Child, Unwrapped, joined, quoted, word_at
from latchd.shell.listing import Input
from latchd.shell.redirects import code_text

_GIT_VALUES = frozenset(
    {"-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env"}
)
_GIT_CODE = re.compile(
    r"(core\.(pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|pager\..*|sequence\.editor|diff\.external"
    r"|diff\..*\.(command|textconv)|merge(tool)?\..*\.(driver|cmd)|difftool\..*\.cmd|filter\..*\.(clean|smudge|process)"
    r"|credential(\..*)?\.helper|gpg(\..*)?\.program|uploadpack\.packobjectshook|remote\..*\.(uploadpack|receivepack))=(.*)\Z",
    re.IGNORECASE | re.DOTALL,
)


def git(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
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
            match = _GIT_CODE.match(setting)
            if match:
                code = match.groups()[-1].removeprefix("!")
                if not name.lower().endswith("hookspath") and code not in ("", "true", "false"):
                    children.append(Child(code=code_text(code), reach=Reach.CONDITIONAL, wraps=False))
        index += 2 if value in _GIT_VALUES else 1
    verb = word_at(words, index).value
    rest = words[index + 1 :]
    issues: tuple[Issue, ...] = ()
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
        place = next((i for i, word in enumerate(rest) if word.value == "foreach"), -1)
        body_words = [
            word for word in rest[place + 1 :] if word.value not in ("--recursive", "--quiet", "-q")
        ]
        if place >= 0 and body_words:
            children.append(Child(code=joined(body_words), head=index + 2, reach=Reach.CONDITIONAL))
    elif verb in (
        "rebase",
        "filter-branch",
        "difftool",
        "mergetool",
        "grep",
        "clone",
        "fetch",
        "pull",
        "push",
        "ls-remote",
        "archive",
    ):
        children += _git_options(verb, rest)
    return Unwrapped(tuple(children), issues)


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
    names = _GIT_OPTION_CODE.get(verb, ())
    for index, word in enumerate(rest):
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
