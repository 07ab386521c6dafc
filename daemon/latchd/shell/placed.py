"""Programs whose command stands in a place of its own: bwrap, socat, flatpak, ansible and others.

No table of options tells where; each is read by itself.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Reach
from latchd.shell.child import (
    NOTHING,
    Child,
    Unwrapped,
    joined,
    program_name,
    split_words,
    suspected_tail,
    word_at,
)
from latchd.shell.listing import Input
from latchd.shell.parse import code_text

_NONE: Final = frozenset(
    "--share-net --die-with-parent --new-session --as-pid-1 --clearenv --disable-userns"
    " --assert-userns-disabled --level-prefix".split()
)
_TWO: Final = re.compile(r"--((ro-|dev-)?bind(-try|-data)?|ro-bind-data|file|symlink|setenv|chmod|perms)\Z")


def bwrap(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """Each option of bwrap takes a fixed number of words."""
    index = 1
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        if value == "--":
            index += 1
            break
        if value in _NONE or value.startswith("--unshare-"):
            index += 1
        else:
            index += 3 if _TWO.match(value) and value != "--perms" else 2
    tail = tuple(words[index:])
    return Unwrapped((Child(tail, head=index, remote=True),)) if tail else NOTHING


def start_stop_daemon(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    program = _value(words, "-x", "--exec", "-a", "--startas")
    if not program or not any(word.value in ("-S", "--start") for word in words):
        return NOTHING
    end = next((i for i, word in enumerate(words) if word.value == "--"), len(words) - 1)
    place = Argument(_value(words, "-d", "--chdir") or "/")
    child = Child((Argument(program), *words[end + 1 :]), head=end + 1, reach=Reach.BACKGROUND)
    return Unwrapped((msgspec.structs.replace(child, directories=(place,)),))


def concurrently(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """Every operand is a command line."""
    takes = ("-n", "-c", "-m", "-p", "-k", "-i", "-s", "-t", "--names", "--prefix-colors", "--max-processes")
    codes = [
        word.value
        for before, word in itertools.pairwise(words)
        if not word.value.startswith("-") and (before.value not in takes or before.value in ("-k", "-i"))
    ]
    return Unwrapped(tuple(Child(code=code_text(code)) for code in codes))


def socat(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """Addresses EXEC:words, SYSTEM:code, SHELL:code, each up to a comma."""
    children: list[Child] = []
    for word in words[1:]:
        match = re.match(r"(exec|system|shell):((?:\\.|[^,])*)", word.value, re.IGNORECASE | re.DOTALL)
        if match is None:
            continue
        text = re.sub(r"\\(.)", r"\1", match.group(2))
        if match.group(1).lower() == "exec":
            children.append(Child(split_words(text), reads=Input(True)))
        else:
            children.append(Child(code=code_text(text), reads=Input(True)))
    return Unwrapped(tuple(children))


def flatpak(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    command = _value(words, "--command")
    if word_at(words, 1).value != "run" or not command:
        return NOTHING
    operands = [i for i, word in enumerate(words) if i > 1 and not word.value.startswith("-")]
    after = operands[0] + 1 if operands else len(words)
    return Unwrapped((Child((Argument(command), *words[after:]), head=after, remote=True),))


_SHELL_MODULES: Final = frozenset(("", "shell", "command", "raw", "ansible.builtin.shell", "win_shell"))


def ansible(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """`ansible HOSTS -m shell -a CODE`; command is the module when none is named."""
    code = _value(words, "-a", "--args")
    module = _value(words, "-m", "--module-name").removeprefix("ansible.builtin.")
    if not code or module not in _SHELL_MODULES:
        return NOTHING
    return Unwrapped((Child(code=code_text(code), head=len(words), remote=True),))


def salt(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """`salt TARGET cmd.run CODE`."""
    for index, word in enumerate(words[:-1]):
        if word.value.startswith("cmd."):
            return Unwrapped((Child(code=code_text(words[index + 1].value), head=index + 1, remote=True),))
    return NOTHING


def remote_jobs(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """`aws ssm send-command`: the strings of `commands` run in a shell there."""
    if [word.value for word in words[1:3]] != ["ssm", "send-command"]:
        return NOTHING
    text = _value(words, "--parameters")
    found = re.search(r"commands\"?\s*[=:]\s*(.*)", text, re.DOTALL)
    if found is None:
        return NOTHING
    codes = re.findall(r'"((?:\\.|[^"\\])*)"', found.group(1)) or [found.group(1).strip("[]")]
    return Unwrapped(
        tuple(Child(code=code_text(code.replace('\\"', '"')), head=len(words), remote=True) for code in codes)
    )


_META = re.compile(r"[&|<>^%;$(){}@`]")


def windows_shell(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    """cmd /c and powershell -Command: a plain command line is read, more is another language's code."""
    name = program_name(words[0].value)
    wanted = r"/[ckCK]\Z" if name == "cmd" else r"-c(o(m(m(a(nd?)?)?)?)?)?\Z"
    place = next((i for i, word in enumerate(words) if i and re.match(wanted, word.value, re.IGNORECASE)), -1)
    tail = tuple(words[place + 1 :]) if place > 0 else ()
    if not tail:
        return NOTHING
    if any(_META.search(word.value) for word in tail):
        return Unwrapped(suspected=suspected_tail(words))
    split = split_words(joined(tail).replace("\\", "\\\\")) if len(tail) == 1 else tail
    return Unwrapped((Child(split, head=place + 1),))


def wsl(words: Sequence[Argument], _stdin: Input) -> Unwrapped:
    index = 1
    while index < len(words) and words[index].value.startswith("-"):
        value = words[index].value
        if value in ("-e", "--exec", "--"):
            index += 1
            break
        index += 2 if value in ("-d", "--distribution", "-u", "--user", "--cd", "--shell-type") else 1
    tail = tuple(words[index:])
    return Unwrapped((Child(code=joined(tail), head=index, remote=True),)) if tail else NOTHING


def _value(words: Sequence[Argument], *options: str) -> str:
    """The value of the first of the options, `--x=value` included."""
    for index, word in enumerate(words[1:], 1):
        if word.value in options:
            return word_at(words, index + 1).value
        name, equals, value = word.value.partition("=")
        if equals and name in options:
            return value
    return ""
