"""The write gates, in order: roots, protected fragment, persistence, credential, stale, unknown and existing.

One order for the write tools and for what a shell command writes; only what a session knows of a file
is asked of the tools alone, because a shell's own writes leave no proven result.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.contract import Surface
from latch_contracts.facts import Access, Command, Kind, Operation, PathFact
from latch_contracts.verdict import Severity
from latchd.files import Knowledge
from latchd.guard.groups import Group
from latchd.guard.paths import Place
from latchd.guard.places import control_plane, credential, other_guard, persistence, protected
from latchd.guard.rights import DIRECTORY_MAKERS, is_ordinary, is_slight
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.guard.targets import found_below, is_elsewhere, shown, where

_PROPOSE: Final = "write it in the project and let the person put it in place"
_OUTSIDE: Final = frozenset((Place.OUTSIDE, Place.HOME, Place.SYSTEM, Place.ROOT, Place.DEVICE))
_SCRATCH_ROOTS: Final = frozenset(("/tmp", "/var/tmp", "/dev/shm"))  # noqa: S108


# A service that is started or restarted ends with the machine; these verbs make it come back.
_SERVICES: Final = frozenset(
    "systemctl service rc-service initctl sv s6-svc screen tmux nohup setsid".split()
)
_LASTING: Final = frozenset(
    "enable reenable link edit preset add-wants add-requires set-environment import-environment".split()
)


def _written(subject: Subject) -> Iterator[tuple[Command, PathFact]]:
    """Paths that are written, and those that a move or a patch takes away."""
    for command, fact in subject.touched(Access.WRITE, Access.APPEND, Access.DELETE):
        leaves = Operation.MOVE in command.operations or command.kind is Kind.TOOL
        if fact.access is not Access.DELETE or leaves:
            yield command, fact


def _changed_rights(subject: Subject) -> Iterator[tuple[Command, PathFact]]:
    for command, fact in subject.touched(Access.METADATA):
        if Operation.PERMISSION_CHANGE in command.operations:
            yield command, fact


def _spellings(subject: Subject, fact: PathFact) -> Iterator[str]:
    yield fact.resolved or fact.value
    view = subject.view(fact.resolved) if fact.resolved else None
    if view is not None and view.real and view.real != fact.resolved:
        yield view.real


def _outside(subject: Subject) -> Iterator[Hit]:
    for command, fact in (*_written(subject), *_changed_rights(subject)):
        if fact.value.startswith(("/dev/tcp/", "/dev/udp/")) or is_elsewhere(command):
            continue
        if not fact.resolved and command.kind is not Kind.TOOL:
            for below in found_below(subject, command) if "\0" in fact.value else ():
                if where(subject, below) in _OUTSIDE and not is_ordinary(command, below.resolved):
                    yield _outside_hit(command, below)
            continue
        found = where(subject, fact)
        if fact.resolved in _SCRATCH_ROOTS and Operation.PERMISSION_CHANGE not in command.operations:
            continue  # a file that is put into /tmp is in scratch
        # a named directory that a container is given may be written by it: nothing here shows that it is
        mounts = (
            Operation.CONTAINER_RUN in command.operations
            and found is Place.OUTSIDE
            and "/." not in fact.resolved
        )
        # what lies below /var is a service's data, and no part of the system
        data = fact.access is Access.METADATA and fact.resolved.startswith("/var/")
        if mounts or ((data or found in (Place.OUTSIDE, Place.HOME)) and is_slight(command, fact)):
            continue
        if found in _OUTSIDE or (found is Place.DYNAMIC and command.kind is Kind.TOOL):
            yield _outside_hit(command, fact)


def _outside_hit(command: Command, fact: PathFact) -> Hit:
    return Hit(
        command.id,
        shown(fact),
        f"`{shown(fact)}` is outside the directories that may be written",
        "write inside the project or below /tmp, or ask the person",
    )


def _protected(subject: Subject) -> Iterator[Hit]:
    for command, fact in (*_written(subject), *_changed_rights(subject)):
        for path in _spellings(subject, fact):
            if fragment := protected(path, subject.home, subject.policy.protected):
                yield Hit(
                    command.id,
                    shown(fact),
                    f"`{shown(fact)}` is protected by `{fragment}`",
                    "leave it as it is, or ask the person",
                )
                break


def _other_guard(subject: Subject) -> Iterator[Hit]:
    removed = subject.touched(Access.DELETE)
    for command, fact in (*_written(subject), *_changed_rights(subject), *removed):
        for path in _spellings(subject, fact):
            if other_guard(path, subject.home):
                yield Hit(
                    command.id,
                    shown(fact),
                    f"`{shown(fact)}` is what another guard on this machine goes by",
                    "let the person change it",
                )
                break


def _persistence(subject: Subject) -> Iterator[Hit]:
    for command, fact in _written(subject):
        if command.program in DIRECTORY_MAKERS:
            continue
        for path in _spellings(subject, fact):
            if persistence(path, subject.home) or control_plane(path, subject.home):
                yield Hit(
                    command.id, shown(fact), f"`{shown(fact)}` is run or obeyed later, by itself", _PROPOSE
                )
                break


def _schedule(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        lasting = command.program not in _SERVICES or bool(_LASTING & set(command.argv[1:]))
        if Operation.SCHEDULE in command.operations and lasting and "schedule-remove" not in command.details:
            yield Hit(
                command.id,
                " ".join(command.argv[:3]).replace("\0", "$…")[:60],
                "this makes something run later, by itself",
                "let the person set it up",
            )


_ELSEWHERE: Final = frozenset(
    ("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "ssh", "chroot")
)


def _accounts(subject: Subject) -> Iterator[Hit]:
    """Users, groups and passwords of this machine; those of a container are its own affair."""
    for command in subject.acting():
        away = any(wrapper.executable.rpartition("/")[2] in _ELSEWHERE for wrapper in command.wrappers)
        if Operation.ACCOUNT_CHANGE in command.operations and not away:
            yield Hit(
                command.id,
                " ".join(command.argv[:2]).replace("\0", "$…")[:60],
                "this changes who may log in to this machine, and as what",
                "let the person do it",
            )


def _credential(subject: Subject) -> Iterator[Hit]:
    for command, fact in _written(subject):
        if command.program in DIRECTORY_MAKERS or _from_template(subject, command):
            continue
        if _makes_key(subject, command, fact):
            continue
        for path in _spellings(subject, fact):
            if credential(path, subject.home):
                yield Hit(
                    command.id,
                    shown(fact),
                    f"`{shown(fact)}` is a credential",
                    "write a template, and let the person fill it in",
                )
                break


# Programs that make a key of their own, and the first words by which they do.
_KEY_MAKERS: Final = {
    "openssl": frozenset(("req", "genrsa", "genpkey", "gendsa", "ecparam", "dhparam", "x509")),
    "mkcert": None,
    "ssh-keygen": None,
}
_KEY_ENDINGS: Final = (".pem", ".key", ".p12", "_rsa", "_ed25519", "_ecdsa")


def _makes_key(subject: Subject, command: Command, fact: PathFact) -> bool:
    """A new key for this project, or in scratch: nobody's yet, and nothing is lost where no file was."""
    verbs = _KEY_MAKERS.get(command.program, frozenset())
    if verbs is not None and not verbs & set(command.argv[1:2]):
        return False
    view = subject.view(fact.resolved) if fact.resolved else None
    return (
        fact.value.endswith(_KEY_ENDINGS)
        and where(subject, fact) in (Place.PROJECT, Place.SCRATCH)
        and (view is None or not view.exists)
    )


def _from_template(subject: Subject, command: Command) -> bool:
    """A copy of a template is no secret yet: `cp .env.example .env`."""
    sources = [fact for owner, fact in subject.touched(Access.READ) if owner.id == command.id]
    marks = ("example", "sample", "template", "dist", "defaults")
    return (
        Operation.COPY in command.operations
        and bool(sources)
        and all(any(mark in fact.value.rpartition("/")[2] for mark in marks) for fact in sources)
    )


def _by_tool(subject: Subject, *surfaces: Surface) -> Iterator[tuple[Command, PathFact]]:
    if subject.surface in surfaces:
        yield from _written(subject)


def _stale(subject: Subject) -> Iterator[Hit]:
    for command, fact in _by_tool(subject, Surface.WRITE, Surface.EDIT, Surface.PATCH):
        view = subject.view(fact.resolved)
        if view is not None and view.knowledge is Knowledge.STALE:
            yield Hit(
                command.id,
                shown(fact),
                f"`{shown(fact)}` has changed since it was read",
                "read it again first",
            )


def _unknown(subject: Subject) -> Iterator[Hit]:
    for command, fact in _by_tool(subject, Surface.WRITE):
        view = subject.view(fact.resolved)
        if view is not None and view.exists and view.knowledge is Knowledge.UNKNOWN:
            yield Hit(
                command.id,
                shown(fact),
                f"`{shown(fact)}` exists and was not read in this session",
                "read it first",
            )


GATES: Final = (
    Rule(
        "write.outside-roots",
        "a file outside the write roots is written",
        Group.WRITE_OUTSIDE,
        Severity.MEDIUM,
        _outside,
        denies=(
            "echo x > /home/dev/other/a",
            "tee ~/a",
            "cp a /home/dev/b",
            "mv a ~/b",
            "sed -i s/a/b/ /home/dev/other/a",
            "find ~/x -name '*.md' -exec sed -i s/a/b/ {} +",
            "chmod -R 755 /data",
            "chmod -R 000 /data/x",
            "find ~/x -type d -exec chmod 777 {} +",
            "find / -type f -exec chmod 644 {} +",
            "chmod -R 755 ~/.config",
            "sudo chown -R www-data /var/www/site",
            "chmod 644 /etc/x.conf",
            "docker run -v /home/dev/other:/o alpine touch /o/a",
        ),
        passes=(
            "mkdir -p ~/a/b",
            "chmod 600 ~/notes",
            "chmod -R 755 ~/x",
            "find /srv/www/site -type f -exec chmod 644 {} +",
            "find /srv/www/site -type d -print0 | xargs -0 chmod u+rwx,go+rx",
            "sudo chown www-data /var/www/site/uploads",
            "docker exec web touch /app/restart",
            "docker run -v /home/dev/data:/data postgres",
            "ssh host.example 'date > /srv/stamp'",
            "echo x > a",
            "tee /tmp/x",
            "cp a b",
            "cat ~/a",
            "ls > /dev/null",
            "scp host:/a.log /tmp/",
        ),
    ),
    Rule(
        "write.protected",
        "a protected path is written",
        Group.PROTECTED,
        Severity.HIGH,
        _protected,
        denies=("echo x > .git/hooks/pre-commit", "cp a .git/config", "tee -a .git/info/attributes"),
        passes=("echo x > .gitignore", "cat .git/config", "git commit -m x"),
    ),
    Rule(
        "write.other-guard",
        "another guard's policy or state is changed",
        Group.PROTECTED,
        Severity.HIGH,
        _other_guard,
        denies=("echo x > ~/.defenseclaw/config.yaml", "rm -rf ~/.cc-safety-net"),
        passes=(
            "cat ~/.defenseclaw/config.yaml",
            "tail ~/.cc-safety-net/logs/a.jsonl",
            "echo x > docs/dcg.yaml",
        ),
    ),
    Rule(
        "write.persistence",
        "something that runs later by itself is written",
        Group.PERSISTENCE,
        Severity.HIGH,
        _persistence,
        denies=(
            "echo 'alias ls=rm' >> ~/.bashrc",
            "cp u.service ~/.config/systemd/user/",
            "tee /etc/cron.d/x",
            "ln -s a ~/.local/bin/git",
        ),
        passes=(
            "echo x >> notes.md",
            "cat ~/.bashrc",
            "mkdir -p ~/.config/systemd/user",
            "ssh-keygen -R git.host.example",
        ),
    ),
    Rule(
        "write.schedule",
        "something is set to run later",
        Group.PERSISTENCE,
        Severity.HIGH,
        _schedule,
        denies=("crontab jobs", "echo ls | at now + 1 hour", "systemctl --user enable x"),
        passes=("crontab -l", "service nginx restart"),
    ),
    Rule(
        "write.accounts",
        "who may log in, and as what, is changed",
        Group.PERSISTENCE,
        Severity.HIGH,
        _accounts,
        denies=("sudo usermod -aG sudo dev", "useradd x", "visudo", "groupmems -g wheel -a dev"),
        passes=("id dev", "getent passwd dev", "docker exec web useradd x", "groupmems -g wheel -l"),
    ),
    Rule(
        "write.credential",
        "a credential file is written",
        Group.CREDENTIAL,
        Severity.HIGH,
        _credential,
        denies=(
            "echo A=1 > .env",
            "cp k ~/.ssh/id_rsa",
            "tee ~/.aws/credentials",
            "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519",
            "openssl req -x509 -keyout ~/.ssh/dev.key -out c.crt",
            "openssl enc -in a -out prod.key",
        ),
        passes=(
            "cp .env.example .env",
            "echo x > .env.example",
            "mkdir -p ~/.ssh",
            "openssl req -x509 -newkey rsa:2048 -nodes -keyout certs/dev.key -out certs/dev.crt",
            "openssl genrsa -out /tmp/a.pem 2048",
            "mkcert -key-file key.pem -cert-file cert.pem localhost",
        ),
    ),
    Rule("write.stale", "a file changed since it was read", Group.STALE, Severity.MEDIUM, _stale),
    Rule(
        "write.overwrite-unknown",
        "a file nobody read is replaced",
        Group.OVERWRITE_UNKNOWN,
        Severity.MEDIUM,
        _unknown,
    ),
)
