"""One command → the commands it runs because its words (or its literal stdin) say so.

Every wrapper is read by its own options. Where they are not understood the best guess is still
listed, but the facts are no longer complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import (
    NOTHING,
    Child,
    Unwrapped,
    joined,
    program_name,
    quoted,
    split_words,
    suspected_tail,
)
from latchd.shell.code_values import CODE_NAMES
from latchd.shell.directories import directories, moved, named
from latchd.shell.elsewhere import container, screen, ssh, tmux
from latchd.shell.embedded_code import Fed
from latchd.shell.git_commands import git
from latchd.shell.interpreters import embedded, option_words
from latchd.shell.launcher_tables import LAUNCHERS
from latchd.shell.launchers import launcher
from latchd.shell.listing import Input
from latchd.shell.options import parse_options
from latchd.shell.parse import code_text
from latchd.shell.placed import (
    ansible,
    bwrap,
    concurrently,
    flatpak,
    remote_jobs,
    salt,
    socat,
    start_stop_daemon,
    windows_shell,
    wsl,
)
from latchd.shell.runners import fd, find, parallel, xargs
from latchd.shell.scheduled import at, crontab
from latchd.shell.shells import evaluate, shell, source, stdin_code, trap
from latchd.shell.wrappers import SHELLS, WRAPPERS, Options, Tail, names

_PLAIN: Final = re.compile(r"[\w./ -]+\Z")


def unwrap(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """What else runs when this command runs. ``words`` has the program first, a known one."""
    name = program_name(words[0].value)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words, stdin)
    if name in SHELLS:
        return shell(words, stdin)
    if name in LAUNCHERS and (launched := launcher(words, stdin)) is not NOTHING:
        return launched
    if name == "aws":
        return remote_jobs(words, stdin)
    options = WRAPPERS.get(name)
    if options is not None and ((wrapped := wrapper(words, options, stdin)).children or not options.after):
        return wrapped
    found = embedded(name, words, stdin.text if stdin.given else None)
    children = (
        *(Child(code=code, reach=Reach.CONDITIONAL, wraps=False) for code in found.codes),
        *map(_fed, found.fed),
        *(Child(split, reach=Reach.CONDITIONAL, wraps=False) for split in option_words(name, words) if split),
    )
    if name in _STARTS_IN:
        children = moved(children, named(words, len(words), _STARTS_IN[name]))
    return Unwrapped(children, (Issue.OPAQUE_ARTIFACT,) if found.opaque else ())


_MAKE: Final = Options(values="foWjlEIO", directory=names("-C --directory"))
_TAR: Final = Options(values="fbgFHIKLNTVX", directory=names("-C --directory --cd"))
_STARTS_IN: Final = {"make": _MAKE, "gmake": _MAKE, "bmake": _MAKE, "tar": _TAR, "gtar": _TAR, "bsdtar": _TAR}


def _settings(words: Sequence[Argument]) -> Iterator[Child]:
    """NAME=value words of env and its like whose value some program runs."""
    for word in words:
        name, equals, value = word.value.partition("=")
        if equals and value and CODE_NAMES.match(name):
            yield Child(code=code_text(value), reach=Reach.DEFERRED, wraps=False)


def _after_file(words: Sequence[Argument]) -> tuple[Argument, ...]:
    """BSD's `script FILE COMMAND …`, and `script … -- COMMAND …`."""
    operands = [index for index, word in enumerate(words) if index and not word.value.startswith("-")]
    dashes = [index for index, word in enumerate(words) if word.value == "--"]
    start = dashes[0] + 1 if dashes else operands[1] if len(operands) > 1 else len(words)
    return tuple(words[start:])


def _fed(fed: Fed) -> Child:
    """Code whose stdin the program around it writes; only one plain command surely gets all of it."""
    reads = Input(True, fed.text)
    if _PLAIN.match(fed.code):
        return Child(split_words(fed.code), reach=Reach.CONDITIONAL, wraps=False, reads=reads)
    return Child(code=fed.code, reach=Reach.CONDITIONAL, wraps=False, reads=reads)


def wrapper(words: Sequence[Argument], options: Options, stdin: Input) -> Unwrapped:
    if options.after:
        place = next((i for i, word in enumerate(words) if word.value in options.after), -1)
        if place < 0:
            return Unwrapped(suspected=suspected_tail(words))
        tail = tuple(words[place + 1 :])
        if options.tail is Tail.BASH:
            tail = (Argument("bash"), *tail)
        return Unwrapped((Child(tail, head=place + 1),)) if tail else NOTHING
    parsed = parse_options(words, options)
    if parsed.stopped:
        return NOTHING
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    tail = tuple(words[parsed.start :])
    if tail and tail[0].value == "--" and options.operands:
        tail = tail[1:]
    name = program_name(words[0].value)
    there = directories(words, parsed.start, options)
    children = [*_settings(words[1 : parsed.start])] if options.assigns else []
    if parsed.codes:
        extra = " " + quoted(tail) if name == "env" and tail else ""
        children += [Child(code=code_text(code.value) + extra, head=parsed.start) for code in parsed.codes]
        tail = ()
    if name == "flock" and tail and tail[0].value in ("-c", "--command"):
        children.append(Child(code=joined(tail[1:2]), head=parsed.start))
        tail = ()
    if (
        name in ("runuser", "su")
        and tail
        and not (name == "runuser" and any(w.value.startswith("-u") for w in words))
    ):
        started = moved((*children, *shell((Argument("sh"), *tail), stdin).children), there)
        return Unwrapped(started, issues)
    if name == "script" and not children:
        tail = _after_file(words)
    if tail and options.tail is Tail.SHELL:
        children.append(Child(code=joined(tail), head=parsed.start, remote=options.remote))
    elif tail:
        straight = name in ("command", "builtin")
        children.append(Child(tail, head=parsed.start, remote=options.remote, straight=straight))
    elif not children and name in ("su", "chroot", "nsenter", "unshare", "script", "runuser") and stdin.given:
        return _moved(stdin_code(stdin, issues), there)
    if (
        name == "sudo"
        and not tail
        and any(re.match(r"-\w*[si]|--(shell|login)", w.value) for w in words[1:])
        and stdin.given
    ):
        return _moved(stdin_code(stdin, issues), there)
    suspected = suspected_tail(words) if parsed.unknown else ""
    return Unwrapped(moved(children, there), issues, suspected=suspected)


def _moved(found: Unwrapped, where: tuple[Argument, ...]) -> Unwrapped:
    return msgspec.structs.replace(found, children=moved(found.children, where))


_SPECIAL: Final[dict[str, Callable[[Sequence[Argument], Input], Unwrapped]]] = {
    "eval": evaluate,
    "source": source,
    ".": source,
    "trap": trap,
    "xargs": xargs,
    "find": find,
    "gfind": find,
    "fd": fd,
    "fdfind": fd,
    "parallel": parallel,
    "docker": container,
    "podman": container,
    "nerdctl": container,
    "crictl": container,
    "ctr": container,
    "docker-compose": container,
    "kubectl": container,
    "oc": container,
    "ssh": ssh,
    "autossh": ssh,
    "git": git,
    "tmux": tmux,
    "screen": screen,
    "sem": parallel,
    "at": at,
    "batch": at,
    "crontab": crontab,
    "bwrap": bwrap,
    "start-stop-daemon": start_stop_daemon,
    "concurrently": concurrently,
    "socat": socat,
    "flatpak": flatpak,
    "ansible": ansible,
    "salt": salt,
    "salt-ssh": salt,
    "pwsh": windows_shell,
    "powershell": windows_shell,
    "cmd": windows_shell,
    "wsl": wsl,
}
