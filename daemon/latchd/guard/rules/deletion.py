"""What is removed for good: judged by operation, resolved target and scope.

How the flags are spelt never decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Final

from latch_contracts.facts import (
    Access,
    Command,
    Operation,
    PathFact,
)
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.paths import Place, components
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.guard.targets import deleted, is_fed, moves, searches_of, shown, takes_all, where

_INSIDE: Final = "delete a named path inside the project or below /tmp instead, or let the person run it"


# Directories that a build makes again: removing them is no loss under any profile.
_BUILD_OUTPUTS: Final = frozenset(
    "node_modules dist build target out coverage __pycache__ .next .nuxt .cache .pytest_cache .mypy_cache "
    ".ruff_cache "
    ".tox .venv venv htmlcov .gradle .turbo .parcel-cache bin obj tmp logs .svelte-kit .output .eggs".split()
)


def _delete_root_or_home(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        if found in (Place.ROOT, Place.HOME) and (takes_all(fact) or moves(command)):
            yield Hit(
                command.id, shown(fact), f"this removes `{shown(fact)}`, a whole home or the machine", _INSIDE
            )


def _delete_outside(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        outside = found in (Place.SYSTEM, Place.DEVICE) or (found is Place.OUTSIDE and not moves(command))
        if outside or (found in (Place.ROOT, Place.HOME) and not takes_all(fact) and not moves(command)):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes `{shown(fact)}`, outside the project and scratch",
                _INSIDE,
            )


def _delete_project_root(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        if found is Place.PROJECT_ROOT and takes_all(fact) and not (moves(command) and fact.globs):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes the whole project `{shown(fact)}`",
                "name the files or directories that should go, or let the person run it",
            )


def _delete_listed(subject: Subject) -> Iterator[Hit]:
    """`ls | xargs rm`: every file there is, by way of a list."""
    flows = subject.facts.flows
    for command in subject.acting():
        removes = Operation.DELETE in command.operations and not moves(command)
        if not is_fed(command) or not removes or command.program == "git":
            continue
        feeders = (
            subject.facts.command(flow.from_command) for flow in flows if flow.to_command == command.id
        )
        for source in feeders:
            if source is not None and _lists_all(subject, source):
                yield Hit(
                    command.id,
                    "(everything listed)",
                    f"this removes all that `{' '.join(source.argv)[:40]}` lists",
                    "name the files or directories that should go, or let the person run it",
                )


def _lists_all(subject: Subject, source: Command) -> bool:
    words = source.argv[1:]
    if source.program == "git":
        return words[:1] == ("ls-files",) and all(
            word.startswith("-") and word not in ("-d", "--deleted") for word in words[1:]
        )
    listed = [fact for fact in subject.facts.paths if fact.command_id == source.id]
    return source.program == "ls" and any(where(subject, fact) is Place.PROJECT_ROOT for fact in listed)


def _delete_repository(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        view = subject.view(fact.resolved) if fact.resolved else None
        lock = fact.resolved.endswith(".lock")
        matched = fact.globs and fact.recursive and _names_repository(fact) and not moves(command)
        nested = view is not None and view.holds_git and fact.recursive and found is Place.PROJECT
        if (found is Place.REPOSITORY and not lock) or matched or (nested and not moves(command)):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes repository metadata with `{shown(fact)}`, history and all",
                "leave .git alone, or let the person run it",
            )
    for command in subject.acting():
        search = searches_of(subject, command) if _recursive_delete(command) else None
        for each in sorted(search.ids) if search is not None else ():
            source = subject.facts.command(each)
            if source is not None and _looks_for_repositories(source):
                yield Hit(
                    command.id,
                    ".git",
                    "this removes the metadata of every repository that is found, history and all",
                    "leave .git alone, or let the person run it",
                )


def _names_repository(fact: PathFact) -> bool:
    """Whether a pattern takes `.git` with it: a leading dot is only matched by one that is written."""
    name = fact.resolved.rstrip("/").rpartition("/")[2]
    return name.startswith(".") and fnmatchcase(".git", name)


def _looks_for_repositories(search: Command) -> bool:
    words = search.argv
    named = any(
        word == ".git" and before in ("-name", "-iname") and two not in ("!", "-not")
        for two, before, word in zip(words, words[1:], words[2:], strict=False)
    )
    return named and "-prune" not in words


def _links(subject: Subject, command: Command) -> Iterator[tuple[int, PathFact, str]]:
    """What a link that this command makes leads to, and the path of the link."""
    if command.program not in ("ln", "gln"):
        return
    own = [fact for fact in subject.facts.paths if fact.command_id == command.id]
    names = [fact.resolved for fact in own if fact.access is Access.WRITE and fact.resolved]
    sources = [fact for fact in own if fact.access is not Access.WRITE]
    if len(names) == len(sources) == 1:
        yield command.id, sources[0], names[0]


def _delete_linked(subject: Subject) -> Iterator[Hit]:
    """`ln -s / x && rm -rf x/`: what a link of this very text leads to is emptied."""
    leads = [link for command in subject.acting() for link in _links(subject, command)]
    if not leads:
        return
    for command, fact, _found in deleted(subject):
        for maker, source, name in leads:
            whole = fact.resolved == name and fact.value.endswith("/")
            below = whole or fact.resolved.startswith(name + "/")
            away = where(subject, source) not in (Place.PROJECT, Place.SCRATCH)
            if maker < command.id and fact.recursive and below and away:
                yield Hit(
                    command.id,
                    shown(fact),
                    f"`{shown(fact)}` leads to `{shown(source)}` by a link, and this removes what is there",
                    "remove the link itself, without a slash behind its name",
                )


def _delete_dynamic(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        if found is Place.DYNAMIC and fact.recursive and not moves(command):
            yield Hit(
                command.id,
                shown(fact),
                f"the target `{shown(fact)}` of this recursive removal is known only when it runs",
                "write the path out, or build it below a literal directory of the project or /tmp",
            )
    aimed = {fact.command_id for _, fact in subject.touched(Access.DELETE)}
    for command in subject.acting():
        if is_fed(command) and command.id not in aimed and _recursive_delete(command):
            yield Hit(
                command.id,
                "(standard input)",
                "the targets of this recursive removal come from another command's output",
                "list them first, then remove each by name",
            )


def _recursive_delete(command: Command) -> bool:
    removes = Operation.DELETE in command.operations or command.program in ("rm", "grm")
    return removes and "recursive" in command.details and not moves(command)


def _delete_just_moved(subject: Subject) -> Iterator[Hit]:
    """Something was moved into a directory that a later segment removes."""
    moved = [
        (command.id, fact.resolved)
        for command, fact in subject.touched(Access.WRITE)
        if moves(command) and fact.resolved and not _is_set_aside(subject, command, fact.resolved)
    ]
    for command, fact, _found in deleted(subject):
        if not fact.recursive or not fact.resolved or moves(command):
            continue
        for mover, path in moved:
            inside = components(path)[: len(components(fact.resolved))] == components(fact.resolved)
            if mover < command.id and inside:
                yield Hit(
                    command.id,
                    shown(fact),
                    f"an earlier segment moved files into `{shown(fact)}`, and this removes them",
                    "move them somewhere that stays, and check before removing",
                )
                break


def _is_set_aside(subject: Subject, command: Command, path: str) -> bool:
    """`mv dist dist.old`: one thing under a new name, beside its old one; what goes later is that thing."""
    sources = [fact for owner, fact in subject.touched(Access.DELETE) if owner.id == command.id]
    return (
        len(sources) == 1
        and bool(sources[0].resolved)
        and not sources[0].globs
        and path.startswith(sources[0].resolved)
        and "/" not in path[len(sources[0].resolved) :]
        and path[len(sources[0].resolved) :][:1] in tuple(".-_~")
    )


def _delete_inside(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in deleted(subject):
        known = fact.resolved.rpartition("/")[2] in _BUILD_OUTPUTS
        if found is Place.PROJECT and fact.recursive and not known and not moves(command):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes the directory `{shown(fact)}` of the project",
                "check that nothing in it is still needed",
            )


RULES: Final = (
    Rule(
        "fs.delete-root-or-home",
        "the machine or a whole home is removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _delete_root_or_home,
        denies=(
            "rm -rf /",
            "rm -rf ~",
            "rm -r -- /home/dev",
            "rm -rf build ~ x",
            "find / -delete",
            "rm -rf /*",
            "rm -rf ../..",
        ),
        passes=(
            "rm -rf build",
            "echo 'rm -rf /'",
            "rm -rf /tmp/x",
            "find / -name x",
            "rm --help /",
            "rm ~/notes",
        ),
    ),
    Rule(
        "fs.delete-project-root",
        "the whole project is removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _delete_project_root,
        denies=(
            "rm -rf .",
            "rm -rf ./*",
            "rm -r /home/dev/project",
            "find . -delete",
            "rm *",
            "find . -type f -exec rm {} +",
            "find . \\( -name x -o -type f \\) -delete",
            "find . -path ./.git -prune -o -type f -exec rm {} +",
            "docker run -v $PWD:/app alpine rm -rf /app",
        ),
        passes=(
            "rm -rf build/*",
            "rm *.o",
            "find . -name '*.pyc' -delete",
            "rm -rf ./build",
            "find . -xtype l -delete",
        ),
    ),
    Rule(
        "fs.delete-listed",
        "every file of the project is removed by way of a list",
        Group.DESTROY,
        Severity.CRITICAL,
        _delete_listed,
        denies=("ls | xargs rm", "git ls-files -z | xargs -0 rm -f"),
        passes=(
            "ls | xargs -I{} mv {} x_{}",
            "ls *.o | xargs rm",
            "ls build | xargs echo",
            "git ls-files --deleted | xargs git rm",
        ),
    ),
    Rule(
        "fs.delete-git",
        "repository metadata is removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _delete_repository,
        denies=("rm -rf .git", "rm -r .git/objects", "mv .git /tmp/x"),
        passes=("rm -f .git/index.lock", "rm -rf .git/index.lock", "rm .gitignore", "ls .git"),
    ),
    Rule(
        "fs.delete-outside",
        "something outside the project and scratch is removed",
        Group.DESTROY,
        Severity.HIGH,
        _delete_outside,
        denies=(
            "rm /etc/hosts",
            "rm -rf /home/dev/other",
            "rm ~/notes.txt",
            "rm -rf ../other",
            "unlink /home/dev/a",
            "rm -r /tmp",
            "find /home/dev/logs -name '*.log' -delete",
            "find /home/dev/logs -name '*.log' | xargs rm",
            "shred -u /home/dev/x",
            "sudo rm -rf /var/lib/x",
            "env -C /home/dev/other rm -rf build",
            "docker run -v /home/dev/other:/o alpine rm -rf /o/x",
            "docker run -v $PWD:/app alpine rm -rf /etc/x",
            "cd / && docker run -v ./home:/h alpine rm -rf /h/dev",
        ),
        passes=(
            "rm x",
            "rm -rf /tmp/x",
            "rm -rf /var/tmp/a/b",
            "rm -rf /home/dev/project/a",
            'W=$(mktemp -d); rm -rf "$W"',
            "mv ~/a ~/b",
            'docker run --rm -v "$(pwd)":/app app sh -c "rm -rf /app/dist && npm run build"',
            'W=/tmp/work-$$; mkdir "$W"; rm -rf "$W"',
            "rmdir /home/dev/empty",
            "find /tmp -name core -delete",
            "rm -rf /tmp/*",
            "git worktree remove ../done",
            "rm $(find . -name '*.orig')",
        ),
    ),
    Rule(
        "fs.delete-dynamic",
        "the target of a recursive removal is not known",
        Group.DESTROY,
        Severity.HIGH,
        _delete_dynamic,
        denies=(
            "rm -rf $X",
            'rm -rf "$DIR/"',
            "rm -rf ./$X",
            "ls | xargs rm -rf",
            "cat list | xargs rm -r",
            "cat list | xargs -i rm -rf",
            "sudo -D $X rm -rf build",
            'rm -rf "$(cat list)"',
            "cd .. && rm -rf $(pwd)/build",
            "rm -rf $X $(find . -name a)",
            "rm -rf $(find . -name a)$X",
            "rm -rf $X$(find . -name a)",
            'for d in $(find . -name a) "$@"; do rm -rf "$d"; done',
            'for d in $(find . -name a); do cd /; rm -rf "$d"; done',
            'd=$(find . -name a); cd /; rm -rf "$d"',
            "T=$(mktemp -d); trap 'rm -rf \"$T\"' EXIT; read T",
        ),
        passes=(
            "rm -rf build/$X",
            'for d in $(find . -name node_modules -prune); do rm -rf "$d"; done',
            "T=$(mktemp -d); trap 'rm -rf \"$T\"' EXIT",
            'rm -f "$f"',
            "X=build; rm -rf $X",
            "rm -rf /tmp/work-$$",
            "rm -rf $TMPDIR/x",
            "TMPDIR=/srv rm -rf $TMPDIR/x",
            "find . -name a -exec rm -rf {} +",
            "find . -name a | sort | xargs rm -rf",
            "ls | xargs -I{} mv {} {}.bak",
            "rm -rf $(pwd)/build",
            "rm -rf $(find . -name '.DS_Store')",
        ),
    ),
    Rule(
        "fs.delete-linked",
        "what a link leads to is removed",
        Group.DESTROY,
        Severity.HIGH,
        _delete_linked,
        denies=("ln -s / x && rm -rf x/", "ln -s ~ h; rm -rf h/*"),
        passes=(
            "ln -s ~/shared x && rm x",
            "ln -s src x && rm -rf x/",
            "rm -rf x && ln -s ~/shared x",
            "ln -s ~/a x && rm -rf x",
        ),
    ),
    Rule(
        "fs.delete-just-moved",
        "files are moved and then removed with their directory",
        Group.DESTROY,
        Severity.HIGH,
        _delete_just_moved,
        denies=("mv *.png a/log/ && rm -rf a", "mkdir out && mv x.db out/ && rm -r out"),
        passes=(
            "mv *.png keep/ && rm -rf a",
            "rm -rf a && mv x a",
            "mv dist dist.old && npm run build && rm -rf dist.old",
        ),
    ),
    Rule(
        "fs.delete-inside",
        "a directory of the project is removed",
        Group.DELETE_INSIDE,
        Severity.LOW,
        _delete_inside,
        denies=("rm -rf src", "rm -r docs/old"),
        passes=("rm -rf node_modules", "rm a.txt", "rm -rf dist build"),
    ),
)
