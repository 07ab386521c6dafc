"""What is overwritten, locked away or stopped outside the project: files, devices, rights, the machine."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import (
    Access,
    Command,
    Operation,
    PathFact,
)
from latch_contracts.verdict import Severity
from latchd.guard.bodies import documents
from latchd.guard.groups import Group
from latchd.guard.paths import Place, components
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.guard.targets import found_below, is_contained, shown, where
from latchd.shell.grammar.places import raw_disk

_MAKE_ONLY: Final = frozenset(
    ("mkdir", "gmkdir", "ln", "gln", "touch", "gtouch", "mkfifo", "rmdir", "mktemp")
)


def _overwritten(subject: Subject) -> Iterator[tuple[Command, PathFact, Place]]:
    for command, fact in subject.touched(Access.WRITE):
        if is_contained(command):
            continue
        if command.program not in _MAKE_ONLY and Operation.DISK_WRITE not in command.operations:
            yield command, fact, where(subject, fact)
            if "\0" in fact.value:
                yield from (
                    (command, below, where(subject, below)) for below in found_below(subject, command)
                )


def _overwrite_system(subject: Subject) -> Iterator[Hit]:
    if not subject.is_shell:
        return
    for command, fact, found in _overwritten(subject):
        if found in (Place.SYSTEM, Place.ROOT) and not _is_put_into_var(command, fact):
            yield Hit(
                command.id,
                shown(fact),
                f"this replaces `{shown(fact)}`, a part of the system",
                "write a file in the project and let the person put it in place",
            )


_SHREDDERS: Final = frozenset(("shred", "gshred", "srm", "wipe"))


def _shred(subject: Subject) -> Iterator[Hit]:
    for command, fact in subject.touched(Access.WRITE):
        redirected = any(redirect.target == fact.value for redirect in command.redirects)
        if command.program in _SHREDDERS and not redirected and where(subject, fact) is Place.PROJECT:
            yield Hit(
                command.id,
                shown(fact),
                f"this overwrites `{shown(fact)}` beyond recovery",
                "remove it with rm, or let the person run this",
            )


def _schedule_removed(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if command.program == "crontab" and "schedule-remove" in command.details:
            yield Hit(
                command.id,
                "crontab",
                "this removes every job of the crontab",
                "show it with `crontab -l`, and let the person edit it",
            )


_PUTTERS: Final = frozenset("cp gcp mv gmv scp rsync install tar unzip wget curl sed gsed split".split())


def _is_put_into_var(command: Command, fact: PathFact) -> bool:
    """A file that is put among a service's data: nothing shows that it replaces one."""
    return command.program in _PUTTERS and _is_data(fact.resolved)


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
        if Operation.PERMISSION_CHANGE not in command.operations or is_contained(command):
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


_NARROWS: Final = frozenset("grep egrep fgrep rg head tail fzf lsof fuser jq".split())


def _kill_listed(subject: Subject) -> Iterator[Hit]:
    """`ps … | awk '{print $2}' | xargs kill`: the numbers of all there is, with nothing that chooses."""
    for command in subject.acting():
        if command.program != "kill" or "-0" in command.argv:
            continue
        sources = list(subject.sources(command))
        outer = subject.facts.command(command.parent)
        if outer is not None and _chooses(outer):
            continue  # awk's own pattern says which
        if any(map(_lists_all, sources)) and not any(map(_chooses, sources)):
            yield Hit(
                command.id,
                "(every process)",
                "this ends every process that is listed",
                "end one process, by its number or its name",
            )


def _lists_all(source: Command) -> bool:
    words = source.argv[1:]
    if source.program == "pgrep":
        return all(
            word in (".", ".*", "") or word.startswith("-") for word in words if word not in _owners(words)
        )
    every = any(word.lstrip("-") in ("e", "A", "ax", "aux", "ef", "axo", "eo", "axu") for word in words)
    return source.program == "ps" and every and not {"-C", "-p", "--pid", "--ppid"} & set(words)


def _owners(words: tuple[str, ...]) -> set[str]:
    return {after for before, after in itertools.pairwise(words) if before in ("-u", "-U", "--euid", "--uid")}


def _chooses(source: Command) -> bool:
    coded = source.program in ("awk", "gawk", "mawk", "sed", "perl") and any(
        mark in word for word in source.argv[1:] for mark in ("/", "==", "~")
    )
    return source.program in _NARROWS or coded


_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"]*\"")


_FORK_BOMB: Final = re.compile(
    r"(?<![\w:.])([\w:.]{1,64})\s{0,4}\(\)\s{0,4}\{\s{0,4}\1\s{0,4}\|\s{0,4}\1\s{0,4}&"
)


# A line that starts a shell or a file: what a here-document wrote may be what runs.
_RUNS_FILE: Final = re.compile(
    r"(?:\A|[\n;&|(])[ \t]{0,8}(?:sudo[ \t]{1,8})?"
    r"(?:(?:ba|da|z|k)?sh|source|\.|\.{0,2}/[\w./-]{1,128})(?=\s|\Z)"
)
_SHELLS: Final = ("sh", "bash", "dash", "zsh", "ksh")


def _without_data(text: str) -> str:
    """The text without here-documents that no shell is given; where a file is run, all of it."""
    data = [
        document.body
        for document in documents(text)
        if document.body and not any(map(document.feeds, _SHELLS))
    ]
    rest = text
    for body in data:
        rest = rest.replace(body, "", 1)
    return text if _RUNS_FILE.search(rest) else rest


def _fork_bomb(subject: Subject) -> Iterator[Hit]:
    text = subject.text
    if "()" in text and _FORK_BOMB.search(_QUOTED.sub("''", _without_data(text))):
        yield Hit(0, "(itself)", "a function that starts itself twice takes the machine down", "leave it out")


RULES: Final = (
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
            "find /etc -type f -exec truncate -s 0 {} +",
        ),
        passes=(
            "echo x > out.txt",
            "echo x > /dev/null",
            "ls > /tmp/x",
            "docker exec web sh -c 'date > /etc/stamp'",
            "cmd 2>/dev/null",
            "cat /etc/passwd",
        ),
    ),
    Rule(
        "fs.shred",
        "a file of the project is overwritten beyond recovery",
        Group.OVERWRITE_UNKNOWN,
        Severity.MEDIUM,
        _shred,
        denies=("shred -u notes.txt", "shred data.bin"),
        passes=("rm notes.txt", "shred -u /tmp/x", "shred --help"),
    ),
    Rule(
        "sys.schedule-removed",
        "the whole crontab is removed",
        Group.DESTROY,
        Severity.HIGH,
        _schedule_removed,
        denies=("crontab -r", "sudo crontab -u web -r"),
        passes=("crontab -l", "echo crontab -r"),
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
        denies=("shutdown -h now", "sudo reboot", "kill -9 -1", "killall5 -9"),
        passes=("kill 123", "echo reboot", "kill -0 1"),
    ),
    Rule(
        "sys.kill-listed",
        "every process that is listed is ended",
        Group.DESTROY,
        Severity.HIGH,
        _kill_listed,
        denies=(
            "ps aux | awk '{print $2}' | xargs kill -9",
            "pgrep . | xargs kill -9",
            "kill -9 $(ps -e -o pid=)",
            "kill -9 $(pgrep -u dev)",
        ),
        passes=(
            "ps aux | grep node | awk '{print $2}' | xargs kill -9",
            "ps aux | awk '/node/{print $2}' | xargs kill",
            'ps aux | awk \'$11 == "node" { system("kill " $2) }\'',
            "kill $(pgrep -f vite)",
            "kill $(lsof -t -i:3000)",
            "kill $(ps -C nginx -o pid=)",
        ),
    ),
    Rule(
        "sys.fork-bomb",
        "a function starts itself without end",
        Group.DESTROY,
        Severity.CRITICAL,
        _fork_bomb,
        denies=(
            ":(){ :|:& };:",
            "bash <<'E'\n:(){ :|:& };:\nE",
            "cat > a.sh <<'E'\n:(){ :|:& };:\nE\nbash a.sh",
        ),
        passes=("f() { g | h & }; f", "cat > notes.md <<'E'\nnever type :(){ :|:& };:\nE"),
    ),
)
