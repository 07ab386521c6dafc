"""What is lost for good outside the project and scratch: deleted, overwritten, emptied, locked away.

Judged by operation, resolved target and scope; never by how the flags are spelt.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from latch_contracts.facts import Access, Command, Operation, PathFact
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.paths import Place, components, place, place_of
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.grammar.places import raw_disk

_INSIDE: Final = "delete a named path inside the project or below /tmp instead, or let the person run it"
# Directories that a build makes again: removing them is no loss under any profile.
_BUILD_OUTPUTS: Final = frozenset(
    "node_modules dist build target out coverage __pycache__ .next .nuxt .cache .pytest_cache .mypy_cache "
    ".ruff_cache "
    ".tox .venv venv htmlcov .gradle .turbo .parcel-cache bin obj tmp logs .svelte-kit .output .eggs".split()
)
_MAKE_ONLY: Final = frozenset(
    ("mkdir", "gmkdir", "ln", "gln", "touch", "gtouch", "mkfifo", "rmdir", "mktemp")
)
_FILTERS: Final = frozenset(
    "-name -iname -path -ipath -wholename -regex -iregex -mtime -mmin -atime -ctime -newer -empty -size "
    "-user -perm "
    "-maxdepth -links -inum -amin -cmin -nouser -nogroup -used -samefile -uid -gid -group -lname "
    "-ilname".split()
)
_SEARCHES: Final = frozenset(("find", "gfind", "fd", "fdfind"))
_FEEDERS: Final = frozenset(("xargs", "gxargs", "parallel", "find", "gfind", "fd", "fdfind"))
_SIEVES: Final = frozenset(
    ("grep", "egrep", "fgrep", "sort", "uniq", "head", "tail", "rg")
)  # drop lines, make none


def where(subject: Subject, fact: PathFact) -> Place:
    """The place a fact points at, by its text and, when the disk was asked, by where links lead."""
    roots = subject.roots()
    lexical = place(fact, subject.facts.cwd, roots, subject.home)
    if lexical is Place.DYNAMIC and _below_temporary(subject, fact):
        return Place.SCRATCH
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is None or not view.real or view.real == fact.resolved or view.fault:
        return lexical
    real_roots = (*roots, *(found.real for root in roots if (found := subject.view(root)) and found.real))
    real = place_of(view.real, real_roots, subject.home)
    # a removal without a trailing slash takes the link, not what it leads to
    follows = fact.access is not Access.DELETE or fact.value.endswith("/")
    return max(lexical, real, key=_ORDER.index) if follows else lexical


_TEMPORARY: Final = ("$TMPDIR", "${TMPDIR}", "${TMPDIR:-/tmp}")


def _below_temporary(subject: Subject, fact: PathFact) -> bool:
    """`$TMPDIR/<something>`, where the text does not set TMPDIR itself."""
    call = subject.event.call
    text = (call.command or "") if call is not None else ""
    lead, _, rest = fact.value.partition("/")
    name = rest.partition("/")[0]
    sane = lead == "\0" and name.strip(".*\0") and ".." not in rest.split("/") and "TMPDIR=" not in text
    return bool(sane) and any(f"{mark}/{name}" in text or f'{mark}"/{name}' in text for mark in _TEMPORARY)


_ORDER: Final = (
    Place.HARMLESS,
    Place.SCRATCH,
    Place.PROJECT,
    Place.DYNAMIC,
    Place.OUTSIDE,
    Place.REPOSITORY,
    Place.PROJECT_ROOT,
    Place.SYSTEM,
    Place.DEVICE,
    Place.HOME,
    Place.ROOT,
)


def shown(fact: PathFact) -> str:
    """A path as a reason names it: the resolved one, or the text with ``$…`` for dynamic parts."""
    return (fact.resolved or fact.value or "(nothing)").replace("\0", "$…")[:160]


def _deleted(subject: Subject) -> Iterator[tuple[Command, PathFact, Place]]:
    """Every path that is removed, and where it is.

    A name that a search hands over lies below what the search began with; with a test among its
    words the search takes what matches, not its start as a whole.
    """
    for command, fact in subject.touched(Access.DELETE):
        if "empty-only" in command.details or "preserves-work" in command.details:
            continue
        found = where(subject, fact)
        search = _search(subject, command) if found is Place.DYNAMIC and not _moves(command) else None
        if search is None:
            yield command, fact, _matched(subject, fact, narrowed=_filtered(command))
            continue
        for start in subject.facts.paths:
            if start.command_id in search.ids and start.access is Access.LIST:
                recursive = fact.recursive or bool(start.resolved)
                begun = msgspec.structs.replace(
                    start, command_id=command.id, access=Access.DELETE, recursive=recursive
                )
                yield command, begun, _matched(subject, begun, narrowed=search.narrowed)


class _Search(msgspec.Struct, frozen=True):
    """What names a command's targets: searches by id, and whether only some of what they find is named."""

    ids: frozenset[int]
    narrowed: bool


def _matched(subject: Subject, fact: PathFact, *, narrowed: bool) -> Place:
    """Where the removed things lie: below the start when only some are taken, else the start itself."""
    if not narrowed or not fact.resolved:
        return where(subject, fact)
    return where(subject, msgspec.structs.replace(fact, resolved=f"{fact.resolved.rstrip('/')}/x", value="x"))


def _is_fed(command: Command) -> bool:
    return any(wrapper.executable.rpartition("/")[2] in _FEEDERS for wrapper in command.wrappers)


def _search(subject: Subject, command: Command) -> _Search | None:
    """The searches that name this command's targets; None when anything else may name them too."""
    if not _is_fed(command):
        return None
    owner = subject.facts.command(command.parent)
    while owner is not None and owner.program not in _FEEDERS:
        owner = subject.facts.command(owner.parent)
    if owner is None:
        return None
    if owner.program in _SEARCHES:
        return _Search(frozenset((owner.id,)), _filtered(owner))
    found: set[int] = set()
    narrowed = True
    sieved = False
    waiting, seen = [owner.id], {owner.id}
    while waiting:
        at = waiting.pop()
        feeders = [
            flow.from_command for flow in subject.facts.flows if flow.to_command == at and flow.from_command
        ]
        if not feeders:
            return None
        for feeder in feeders:
            source = subject.facts.command(feeder)
            if source is None or source.program not in _SEARCHES | _SIEVES:
                return None
            if source.program in _SEARCHES:
                found.add(source.id)
                narrowed = narrowed and _filtered(source)
            elif feeder not in seen:
                sieved = sieved or source.program not in ("sort", "uniq")
                seen.add(feeder)
                waiting.append(feeder)
    return _Search(frozenset(found), narrowed or sieved)


def _moves(command: Command) -> bool:
    """Moving keeps the content, so it is told apart from removing."""
    return Operation.MOVE in command.operations


def _filtered(command: Command) -> bool:
    return command.program in _SEARCHES and (
        command.program not in ("find", "gfind")
        or any(word in _FILTERS or word.startswith("-newer") for word in command.argv)
    )


def _takes_all(fact: PathFact) -> bool:
    """Whether what is at the path goes as a whole: recursively, or by a glob that matches everything."""
    return fact.recursive or (fact.globs and not fact.value.rpartition("/")[2].strip("*?.[]!^"))


def _delete_root_or_home(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        if found in (Place.ROOT, Place.HOME) and (_takes_all(fact) or _moves(command)):
            yield Hit(
                command.id, shown(fact), f"this removes `{shown(fact)}`, a whole home or the machine", _INSIDE
            )


def _delete_outside(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        outside = found in (Place.SYSTEM, Place.DEVICE) or (found is Place.OUTSIDE and not _moves(command))
        if outside or (found in (Place.ROOT, Place.HOME) and not _takes_all(fact) and not _moves(command)):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes `{shown(fact)}`, outside the project and scratch",
                _INSIDE,
            )


def _delete_project_root(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        if found is Place.PROJECT_ROOT and _takes_all(fact) and not (_moves(command) and fact.globs):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes the whole project `{shown(fact)}`",
                "name the files or directories that should go, or let the person run it",
            )


def _delete_repository(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        view = subject.view(fact.resolved) if fact.resolved else None
        lock = fact.resolved.endswith(".lock") and not fact.recursive
        nested = view is not None and view.holds_git and fact.recursive and found is Place.PROJECT
        if (found is Place.REPOSITORY and not lock) or (nested and not _moves(command)):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes repository metadata with `{shown(fact)}`, history and all",
                "leave .git alone, or let the person run it",
            )


def _delete_dynamic(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        if found is Place.DYNAMIC and fact.recursive and not _moves(command):
            yield Hit(
                command.id,
                shown(fact),
                f"the target `{shown(fact)}` of this recursive removal is known only when it runs",
                "write the path out, or build it below a literal directory of the project or /tmp",
            )
    aimed = {fact.command_id for _, fact in subject.touched(Access.DELETE)}
    for command in subject.acting():
        if _is_fed(command) and command.id not in aimed and _recursive_delete(command):
            yield Hit(
                command.id,
                "(standard input)",
                "the targets of this recursive removal come from another command's output",
                "list them first, then remove each by name",
            )


def _recursive_delete(command: Command) -> bool:
    return Operation.DELETE in command.operations and "recursive" in command.details and not _moves(command)


def _delete_just_moved(subject: Subject) -> Iterator[Hit]:
    """Something was moved into a directory that a later segment removes."""
    moved = [
        (command.id, fact.resolved)
        for command, fact in subject.touched(Access.WRITE)
        if _moves(command) and fact.resolved
    ]
    for command, fact, _found in _deleted(subject):
        if not fact.recursive or not fact.resolved or _moves(command):
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


def _delete_inside(subject: Subject) -> Iterator[Hit]:
    for command, fact, found in _deleted(subject):
        known = fact.resolved.rpartition("/")[2] in _BUILD_OUTPUTS
        if found is Place.PROJECT and fact.recursive and not known and not _moves(command):
            yield Hit(
                command.id,
                shown(fact),
                f"this removes the directory `{shown(fact)}` of the project",
                "check that nothing in it is still needed",
            )


def _overwritten(subject: Subject) -> Iterator[tuple[Command, PathFact, Place]]:
    for command, fact in subject.touched(Access.WRITE):
        if command.program not in _MAKE_ONLY and Operation.DISK_WRITE not in command.operations:
            yield command, fact, where(subject, fact)


def _overwrite_system(subject: Subject) -> Iterator[Hit]:
    if not subject.is_shell:
        return
    for command, fact, found in _overwritten(subject):
        if found in (Place.SYSTEM, Place.ROOT):
            yield Hit(
                command.id,
                shown(fact),
                f"this replaces `{shown(fact)}`, a part of the system",
                "write a file in the project and let the person put it in place",
            )


def _overwrite_outside(subject: Subject) -> Iterator[Hit]:
    if not subject.is_shell:
        return
    for command, fact, found in _overwritten(subject):
        view = subject.view(fact.resolved)
        if found in (Place.OUTSIDE, Place.HOME) and view is not None and view.exists and not view.is_dir:
            yield Hit(
                command.id,
                shown(fact),
                f"this replaces the existing file `{shown(fact)}`, outside the project and scratch",
                "write to a new file in the project instead",
            )


def _device_write(subject: Subject) -> Iterator[Hit]:
    said: set[int] = set()
    for command, fact in subject.touched(Access.WRITE, Access.APPEND, Access.DELETE):
        path = fact.resolved or fact.value
        if raw_disk(path):
            said.add(command.id)
            yield _device_hit(command, shown(fact))
    for command in subject.acting():
        loses = Operation.DISK_WRITE in command.operations or "disk-loss" in command.details
        if loses and command.id not in said:
            yield _device_hit(command, "(device)")


def _device_hit(command: Command, target: str) -> Hit:
    return Hit(
        command.id,
        target,
        f"this writes to the disk or file system `{target}` itself",
        "work on an image file in the project, or let the person run it",
    )


def _mode(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(Access.METADATA):
        if Operation.PERMISSION_CHANGE not in command.operations:
            continue
        found = where(subject, fact)
        wide = fact.recursive or "world-writable" in command.details or "set-id" in command.details
        if (
            wide
            and found in (Place.ROOT, Place.HOME, Place.SYSTEM, Place.DEVICE)
            and not _is_data(fact.resolved)
        ):
            yield Hit(
                command.id,
                shown(fact),
                f"this changes who may use `{shown(fact)}`, a part of the system or a whole home",
                "change the files of the project alone",
            )


def _is_data(path: str) -> bool:
    """Below /var or a service's own directory: its owner changes it, and the machine lives on."""
    parts = components(path)
    return len(parts) > 1 and (parts[0] == "var" or parts[:2] == ("usr", "local"))


def _halt(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if "halt" in command.details:
            yield Hit(
                command.id, command.program, "this stops or restarts the machine", "let the person do it"
            )
        elif "mass-kill" in command.details:
            yield Hit(
                command.id,
                command.program,
                "this ends every process there is",
                "end one process, by its number",
            )


_FORK_BOMB: Final = re.compile(r"([\w:.]+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&")


def _fork_bomb(subject: Subject) -> Iterator[Hit]:
    call = subject.event.call
    if subject.is_shell and call is not None and call.command and _FORK_BOMB.search(call.command):
        yield Hit(0, "(itself)", "a function that starts itself twice takes the machine down", "leave it out")


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
        ),
        passes=("rm -rf build/*", "rm *.o", "find . -name '*.pyc' -delete", "rm -rf ./build"),
    ),
    Rule(
        "fs.delete-git",
        "repository metadata is removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _delete_repository,
        denies=("rm -rf .git", "rm -r .git/objects", "mv .git /tmp/x"),
        passes=("rm -f .git/index.lock", "rm .gitignore", "ls .git"),
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
        ),
        passes=(
            "rm x",
            "rm -rf /tmp/x",
            "rm -rf /var/tmp/a/b",
            "rm -rf /home/dev/project/a",
            'W=$(mktemp -d); rm -rf "$W"',
            "mv ~/a ~/b",
            "rmdir /home/dev/empty",
            "find /tmp -name core -delete",
            "rm -rf /tmp/*",
            "git worktree remove ../done",
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
            'rm -rf "$(cat list)"',
        ),
        passes=(
            "rm -rf build/$X",
            'rm -f "$f"',
            "X=build; rm -rf $X",
            "rm -rf /tmp/work-$$",
            "rm -rf $TMPDIR/x",
            "find . -name a -exec rm -rf {} +",
            "find . -name a | sort | xargs rm -rf",
            "ls | xargs -I{} mv {} {}.bak",
        ),
    ),
    Rule(
        "fs.delete-just-moved",
        "files are moved and then removed with their directory",
        Group.DESTROY,
        Severity.HIGH,
        _delete_just_moved,
        denies=("mv *.png a/log/ && rm -rf a", "mkdir out && mv x.db out/ && rm -r out"),
        passes=("mv *.png keep/ && rm -rf a", "rm -rf a && mv x a"),
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
    Rule(
        "fs.overwrite-system",
        "a part of the system is replaced",
        Group.DESTROY,
        Severity.CRITICAL,
        _overwrite_system,
        denies=(
            "echo x > /etc/passwd",
            "cp a /usr/lib/x",
            "truncate -s 0 /var/log/syslog",
            "cat a | tee /etc/x.conf",
        ),
        passes=(
            "echo x > out.txt",
            "echo x > /dev/null",
            "ls > /tmp/x",
            "cmd 2>/dev/null",
            "cat /etc/passwd",
        ),
    ),
    Rule(
        "fs.overwrite-outside",
        "an existing file outside the project is replaced",
        Group.DESTROY,
        Severity.HIGH,
        _overwrite_outside,
        passes=("echo x > /home/dev/new.txt", "echo x > a"),
    ),
    Rule(
        "fs.device-write",
        "a disk or file system is overwritten",
        Group.DESTROY,
        Severity.CRITICAL,
        _device_write,
        denies=(
            "dd if=/dev/zero of=/dev/sda",
            "mkfs.ext4 /dev/sdb1",
            "cat x > /dev/sda",
            "wipefs -a /dev/nvme0n1",
        ),
        passes=(
            "dd if=/dev/zero of=disk.img bs=1M count=1",
            "cat x > /dev/null",
            "lsblk",
            "dd if=/dev/sda of=/tmp/a.img",
        ),
    ),
    Rule(
        "fs.change-mode",
        "rights of the system or a whole home are changed",
        Group.DESTROY,
        Severity.CRITICAL,
        _mode,
        denies=("chmod -R 777 /", "sudo chown -R me ~", "chmod -R a+w /etc", "chmod 777 /etc/passwd"),
        passes=("chmod +x run.sh", "chmod -R u+w build", "chown -R me src", "chmod 0777 /tmp/x"),
    ),
    Rule(
        "sys.halt",
        "the machine or all processes are stopped",
        Group.DESTROY,
        Severity.HIGH,
        _halt,
        denies=("shutdown -h now", "sudo reboot", "kill -9 -1"),
        passes=("kill 123", "echo reboot", "kill -0 1"),
    ),
    Rule(
        "sys.fork-bomb",
        "a function starts itself without end",
        Group.DESTROY,
        Severity.CRITICAL,
        _fork_bomb,
        denies=(":(){ :|:& };:",),
        passes=("f() { g | h & }; f",),
    ),
)
