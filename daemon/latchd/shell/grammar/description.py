"""What one command would do, as far as its program's operand grammar proves it.

A description never guesses: a program without a table is ``known=False``, a word whose value is not
known stays in its place with its dynamic parts marked. Details are words of the closed set DETAILS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from latch_contracts.facts import Access, Argument, Effect, NetAction, Operation


class Context(msgspec.Struct, frozen=True):
    """Where a command runs. Empty cwd or home = not known."""

    cwd: str
    home: str
    piped: bool = False  # stdin comes from a pipe, a redirection or a here-document
    text: str | None = None  # all of stdin, if that is literal; dynamic parts as NUL


class Target(msgspec.Struct, frozen=True, omit_defaults=True):
    """A word that names a file, and what happens to that file."""

    access: Access
    word: Argument
    recursive: bool = False


class Contact(msgspec.Struct, frozen=True):
    """A word that names a peer: a host, a URL or host:path."""

    action: NetAction
    word: Argument


class Description(msgspec.Struct, frozen=True, omit_defaults=True):
    """The effects of one command. ``uploads`` and ``saves`` are files sent out and files made of
    what came in; both are among ``targets`` too."""

    known: bool
    effect: Effect = Effect.EXECUTE
    operations: tuple[Operation, ...] = ()
    targets: tuple[Target, ...] = ()
    contacts: tuple[Contact, ...] = ()
    details: tuple[str, ...] = ()
    uploads: tuple[Argument, ...] = ()
    saves: tuple[Argument, ...] = ()
    reads_stdin: bool = False
    writes_stdout: bool = True


UNKNOWN: Final = Description(known=False, operations=(Operation.EXECUTE,))
PREVIEW: Final = Description(known=True, effect=Effect.PREVIEW)

DETAILS: Final[dict[str, str]] = {
    "recursive": "the operation takes everything below its operands",
    "force": "asked to go on where the program would stop or ask",
    "empty-only": "removes directories that are empty and no others",
    "interactive": "asks a person before each step",
    "in-place": "rewrites the files it reads",
    "unknown-option": "an option that is not in the table: operands may be read wrongly",
    "inline-code": "carries a program in an argument",
    "opaque-code": "that program could not be read, or not wholly",
    "child-command": "starts another command named in its words",
    "remote-command": "runs words on another machine",
    "shell-child": "hands a socket to a program: a reverse or bind shell",
    "listener": "accepts connections",
    "tunnel": "forwards connections",
    "insecure": "peer identity is not checked",
    "config-file": "reads more options from a file that was not seen",
    "stdin-upload": "sends its stdin to the peer",
    "dynamic-upload": "sends data that is not known before it runs",
    "stdout-download": "what it fetched goes to stdout",
    "discard-work": "uncommitted work is given up",
    "hard": "git reset --hard",
    "stash": "a stash entry is dropped",
    "abort": "a merge or rebase under way is given up with its resolutions",
    "history-loss": "commits become unreachable or are rewritten",
    "remote-loss": "a remote ref is overwritten or removed",
    "ref-delete": "a branch, tag or other ref is removed",
    "all-refs": "every ref at once",
    "lease": "a forced push that checks what it overwrites",
    "preserves-work": "moves refs but refuses to lose local changes",
    "other-repository": "acts on a repository named by option, not on the one of the directory",
    "hooks-bypass": "skips the checks that the repository's hooks make",
    "executing-config": "sets a configuration key whose value is run later",
    "container-loss": "containers, images or volumes are removed",
    "cluster-loss": "cluster objects are removed",
    "cloud-loss": "cloud resources are removed",
    "infra-loss": "infrastructure is destroyed or forgotten",
    "registry-loss": "a package, release or repository is removed for everyone",
    "database-loss": "tables, databases or all rows are removed",
    "mirror-delete": "removes at the destination what the source does not have",
    "remote-delete": "an HTTP DELETE",
    "publish": "makes something public",
    "disk-loss": "overwrites a disk, file system or partition table",
    "halt": "stops or restarts the machine",
    "mass-kill": "kills every process of the user",
    "probe": "asks whether a process exists and does nothing to it",
    "service-stop": "stops or disables a service",
    "schedule-remove": "removes scheduled work",
    "world-writable": "everyone may write",
    "set-id": "runs with its owner's rights",
    "history-tamper": "the shell's own record of commands is changed",
    "privileged": "a container with the host's rights",
    "host-mount": "a container sees the machine: its root, a whole home, the system or its engine",
    "runner": "fetches a package and runs it at once",
    "script": "runs a target that a project file defines",
    "names-only": "prints names, never values",
    "grammar-fault": "the table itself failed; nothing is proven",
}


def unique(operations: Iterable[Operation]) -> tuple[Operation, ...]:
    """The operations once each, in the order of first mention."""
    return tuple(dict.fromkeys(operations))


def merge(*parts: Description) -> Description:
    """One description with the effects of all; known only if all are."""
    return Description(
        known=all(part.known for part in parts),
        operations=unique(operation for part in parts for operation in part.operations),
        targets=tuple(dict.fromkeys(target for part in parts for target in part.targets)),
        contacts=tuple(dict.fromkeys(contact for part in parts for contact in part.contacts)),
        details=tuple(dict.fromkeys(detail for part in parts for detail in part.details)),
        uploads=tuple(word for part in parts for word in part.uploads),
        saves=tuple(word for part in parts for word in part.saves),
        reads_stdin=any(part.reads_stdin for part in parts),
        writes_stdout=any(part.writes_stdout for part in parts),
    )


def brief(description: Description) -> str:
    """One line that names every effect; the examples of the tables are written in it.

    Order: ``?`` if unknown, ``preview``, operations, ``access:word`` (``/**`` = and all below it),
    ``action@word``, ``upload=word``, ``save=word``, ``+detail``, ``<stdin``, ``>none``. A dynamic part
    is printed as ``$``.
    """
    words = [] if description.known else ["?"]
    if description.effect is not Effect.EXECUTE:
        words.append(description.effect.value)
    words += [operation.value for operation in description.operations]
    words += [
        f"{target.access.value}:{target.word.value}{'/**' if target.recursive else ''}"
        for target in description.targets
    ]
    words += [f"{contact.action.value}@{contact.word.value}" for contact in description.contacts]
    words += [f"upload={word.value}" for word in description.uploads]
    words += [f"save={word.value}" for word in description.saves]
    words += [f"+{detail}" for detail in description.details]
    words += ["<stdin"] if description.reads_stdin else []
    words += [] if description.writes_stdout else [">none"]
    return " ".join(words).replace("\0", "$")
