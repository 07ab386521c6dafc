"""One command → the commands it runs because its words (or its literal stdin) say so.

Every wrapper is read by its own options. Where they are not understood the best guess is still
listed, but the facts are no longer complete.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Final

from latch_contracts.facts import Argument, Issue, Reach
from latchd.shell.child import NOTHING, Child, Unwrapped, joined, program_name, quoted, suspected_tail
from latchd.shell.elsewhere import container, screen, ssh, tmux
from latchd.shell.git_commands import git
from latchd.shell.interpreters import embedded
from latchd.shell.launchers import LAUNCHERS, launcher
from latchd.shell.listing import Input
from latchd.shell.options import parse_options
from latchd.shell.redirects import code_text
from latchd.shell.runners import fd, find, parallel, xargs
from latchd.shell.shells import evaluate, shell, source, stdin_code, trap
from latchd.shell.wrappers import SHELLS, WRAPPERS, Options, Tail


def unwrap(words: Sequence[Argument], stdin: Input) -> Unwrapped:
    """What else runs when this command runs. ``words`` has the program first, a known one."""
    name = program_name(words[0].value)
    special = _SPECIAL.get(name)
    if special is not None:
        return special(words, stdin)
    if name in SHELLS:
        return shell(words, stdin)
    if name in LAUNCHERS:
        return launcher(words, stdin)
    options = WRAPPERS.get(name)
    if options is not None:
        return wrapper(words, options, stdin)
    found = embedded(name, words, stdin.text if stdin.given else None)
    children = tuple(Child(code=code, reach=Reach.CONDITIONAL, wraps=False) for code in found.codes)
    return Unwrapped(children, (Issue.OPAQUE_ARTIFACT,) if found.opaque else ())


def wrapper(words: Sequence[Argument], options: Options, stdin: Input) -> Unwrapped:
    if options.after:
        place = next((i for i, word in enumerate(words) if word.value in options.after), -1)
        if place < 0:
            return Unwrapped(suspected=suspected_tail(words))
        return (
            Unwrapped((Child(tuple(words[place + 1 :]), head=place + 1),))
            if place + 1 < len(words)
            else NOTHING
        )
    parsed = parse_options(words, options)
    if parsed.stopped:
        return NOTHING
    issues = (Issue.UNKNOWN_OPERAND_GRAMMAR,) if parsed.unknown else ()
    tail = tuple(words[parsed.start :])
    children: list[Child] = []
    name = program_name(words[0].value)
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
        return Unwrapped((*children, *shell((Argument("sh"), *tail), stdin).children), issues)
    if tail and options.tail is Tail.SHELL:
        children.append(Child(code=joined(tail), head=parsed.start, remote=options.remote))
    elif tail:
        straight = name in ("command", "builtin")
        children.append(Child(tail, head=parsed.start, remote=options.remote, straight=straight))
    elif not children and name in ("su", "chroot", "nsenter", "unshare", "script", "runuser") and stdin.given:
        return stdin_code(stdin, issues)
    if (
        name == "sudo"
        and not tail
        and any(re.match(r"-\w*[si]|--(shell|login)", w.value) for w in words[1:])
        and stdin.given
    ):
        return stdin_code(stdin, issues)
    return Unwrapped(tuple(children), issues, suspected=suspected_tail(words) if parsed.unknown else "")


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
    "docker-compose": container,
    "kubectl": container,
    "oc": container,
    "ssh": ssh,
    "autossh": ssh,
    "git": git,
    "tmux": tmux,
    "screen": screen,
}
