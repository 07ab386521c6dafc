"""git: the options ahead of the subcommand, aliases given by ``-c``, and the dispatch."""

from __future__ import annotations

from typing import Final

import msgspec

from latch_contracts.facts import Argument, Effect, Operation
from latchd.shell.grammar import git_remote, git_work
from latchd.shell.grammar.description import UNKNOWN, Context, Description, Target, unique
from latchd.shell.grammar.git_remote import executing_key
from latchd.shell.grammar.options import Parsed, below
from latchd.shell.grammar.program import family, program, run

_GLOBALS: Final = (
    "C= c= git-dir= work-tree= namespace= exec-path? p,paginate P,no-pager no-replace-objects bare "
    "literal-pathspecs "
    "glob-pathspecs noglob-pathspecs icase-pathspecs no-optional-locks config-env= list-cmds= "
    "attr-source= html-path "
    "man-path info-path no-lazy-fetch no-advice h,help v,version"
)

_CLEANS_UNFORCED: Final = frozenset(f"clean.requireforce={off}" for off in ("false", "0", "no", "off"))


def _alias(parsed: Parsed, context: Context) -> Description:
    """A subcommand without a table: an alias given with -c, or something this git may not know."""
    if not parsed.operands:
        return Description(known=True)
    name, rest = parsed.operands[0], parsed.operands[1:]
    for pair in parsed.values("c"):
        key, _, value = pair.value.partition("=")
        if key.lower() != f"alias.{name.value.lower()}":
            continue
        if value.startswith("!"):
            return Description(
                known=True, operations=(Operation.EXECUTE,), details=("inline-code", "opaque-code")
            )
        words = [Argument(value=word, expands="\0" in word) for word in value.split()]
        return run(GIT, [*words, *rest], context)
    return UNKNOWN


def _is_no_hooks(key: str, value: str) -> bool:
    """A place without any hook, given for one command: what `--no-verify` does, by another name."""
    return key.lower() == "core.hookspath" and value in ("", "/dev/null")


def _globals(parsed: Parsed, description: Description, _context: Context) -> Description:
    """-C, --git-dir and --work-tree name another repository; -c of an executing key runs its value."""
    operations, details = description.operations, description.details
    targets: tuple[Target, ...] = description.targets
    if parsed.has("C", "git-dir", "work-tree"):
        details = (*details, "other-repository")
    pairs = [word.value.partition("=") for word in parsed.values("c")]
    pairs += [(word.value.partition("=")[0], "", "!") for word in parsed.values("config-env")]
    if any(_is_no_hooks(key, value) for key, _, value in pairs):
        details = (*details, "hooks-bypass")
    if any(executing_key(key, value) and not _is_no_hooks(key, value) for key, _, value in pairs):
        operations = unique((*operations, Operation.EXECUTE))
        details = (*details, "executing-config")
    unforced = parsed.operands[:1] == (Argument("clean"),) and Operation.WORK_LOSS not in operations
    settings = {word.value.lower() for word in parsed.values("c")}
    if unforced and settings & _CLEANS_UNFORCED and description.effect is Effect.EXECUTE:
        operations = unique((*operations, Operation.WORK_LOSS, Operation.DELETE))
        details = (*details, "discard-work")
    for directory in reversed(parsed.values("C")):  # each starts from the one before
        targets = tuple(msgspec.structs.replace(t, word=below(directory, t.word)) for t in targets)
    return msgspec.structs.replace(
        description,
        operations=operations,
        details=tuple(dict.fromkeys(details)),
        targets=targets,
    )


GIT: Final = family(
    "git",
    _GLOBALS,
    (*git_work.CHILDREN, *git_remote.CHILDREN),
    _alias,
    {
        "git": "",
        "git --version": "preview",
        "git -C ../x reset --hard": "work_loss +discard-work +hard +other-repository",
        "git --git-dir=../x/.git --work-tree ../x clean -f": (
            "work_loss delete +discard-work +force +other-repository"
        ),
        "git -C /x checkout -- a": "work_loss write:/x/a +discard-work +other-repository",
        "git -C x -C y checkout -- a": "work_loss write:x/y/a +discard-work +other-repository",
        "git -c alias.x='reset --hard' x": "work_loss +discard-work +hard",
        "git -c alias.x=!rm x": "execute +inline-code +opaque-code +executing-config",
        "git -c core.sshCommand=evil fetch": "connect fetch execute +executing-config",
        "git -c clean.requireForce=false clean -d": "work_loss delete +discard-work",
        "git -c core.pager=cat log": "read",
        "git -c core.fsmonitor=false status": "",
        "git -c core.hooksPath=/dev/null commit -m x": "+hooks-bypass",
        "git -c core.hooksPath=./h commit -m x": "execute +executing-config",
        "git -c diff.external= diff": "read",
        "git -c protocol.file.allow=always submodule update": "connect fetch write",
        "git -c protocol.ext.allow=always fetch": "connect fetch execute +executing-config",
        "git -c core.pager='cat;x' log": "read execute +executing-config",
        "git --config-env=core.pager=X log": "read execute +executing-config",
        "git frobnicate": "? execute",
        "git -c user.name=x commit -m y": "",
    },
    adjust=_globals,
)


def _hub(parsed: Parsed, context: Context) -> Description:
    return run(GIT, parsed.words, context)


PROGRAMS: Final = (
    GIT,
    program("hub", "~", _hub, {"hub push --force": "connect work_loss +remote-loss +force"}, previews=""),
)
