"""Credentials that are read: by any program, redirection or tool, unless only their metadata is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Argument, Command, Grammar, Kind, Operation, PathFact
from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.places import credential, holds_credentials
from latchd.guard.readers import read_paths, secret_behind
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.grammar.description import Context
from latchd.shell.grammar.places import resolve

_INSTEAD: Final = "use a template such as .env.example, or let the person read it"


def _read(subject: Subject) -> Iterator[Hit]:
    for command, fact in read_paths(subject):
        if secret_behind(subject, fact):
            yield _hit(command.id, fact)


def _hit(command_id: int, fact: PathFact) -> Hit:
    path = (fact.resolved or fact.value).replace("\0", "$…")[:160]
    return Hit(command_id, path, f"`{path}` is a credential, and this reads it", _INSTEAD)


def _read_tree(subject: Subject) -> Iterator[Hit]:
    for command, fact in read_paths(subject):
        if fact.recursive and not _metadata_move(command) and holds_credentials(fact.resolved, subject.home):
            yield Hit(
                command.id,
                fact.resolved,
                f"this reads everything below `{fact.resolved}`, credentials with it",
                "read a directory of the project instead",
            )


def _metadata_move(command: Command) -> bool:
    return Operation.MOVE in command.operations


def _named(subject: Subject) -> Iterator[Hit]:
    """A program whose operands are not known is taken to read the files named to it."""
    context = Context(cwd=subject.facts.cwd, home=subject.home)
    touched = {(fact.command_id, fact.value) for fact in subject.facts.paths}
    for command in subject.acting():
        if command.grammar is Grammar.KNOWN or command.kind is not Kind.PROCESS:
            continue
        for word in command.arguments[1:]:
            for value in _path_words(word):
                path = resolve(Argument(value=value), context) or value
                if (command.id, value) not in touched and credential(path, subject.home):
                    yield Hit(
                        command.id,
                        path.replace("\0", "$…")[:160],
                        f"`{path[:160]}` is a credential, and `{command.program[:40]}` may read it",
                        _INSTEAD,
                    )


def _path_words(word: Argument) -> Iterator[str]:
    """The parts of a word that can be a path: the word, what follows ``=`` or ``@``."""
    value = word.value
    if " " in value or "\n" in value or "://" in value or len(value) > 1024:
        return
    if not value.startswith("-"):
        yield value
    for mark in ("=", "@"):
        head, found, tail = value.partition(mark)
        if found and tail and (mark == "=" or not head or head.endswith("=")):
            yield tail.lstrip("@")


def _printed(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if Operation.CREDENTIAL_READ in command.operations:
            yield Hit(
                command.id,
                " ".join(command.argv[:3]).replace("\0", "$…")[:60],
                "this prints a credential",
                "let the person run it, or let the program that needs it ask for it itself",
            )


RULES: Final = (
    Rule(
        "credential.read", "a credential file is read", Group.CREDENTIAL, Severity.CRITICAL, _read,
        denies=("cat .env", "cat ~/.aws/credentials", "grep KEY .env", "base64 ~/.ssh/id_rsa", "tar cz ~/.ssh", "head -1 < .env",
                "f=.dev.vars && cat \"$f\"", "cat .dev.v*", "cp .env /tmp/n", "cat /proc/self/environ", "cat $HOME/.netrc",
                "awk 1 /home/dev/.kube/config", "cat service-account.json"),
        passes=("cat .env.example", "ls -la ~/.ssh", "cat ~/.ssh/id_rsa.pub", "stat .env", "grep '.env' .gitignore", "cat README.md",
                "cp .env.example .env", "test -e .env", "cat src/credentials.py", "echo .env"),
    ),
    Rule(
        "credential.read-tree", "everything below a home is read", Group.CREDENTIAL, Severity.HIGH, _read_tree,
        denies=("grep -r password ~", "tar czf /tmp/b.tgz /home/dev", "grep -r key /"),
        passes=("grep -r x src", "find / -name x", "ls -R ~", "du -sh ~"),
    ),
    Rule(
        "credential.named", "an unknown program is given a credential file", Group.CREDENTIAL, Severity.HIGH, _named,
        denies=("mytool --config ~/.aws/credentials", "mytool .env"),
        passes=("mytool --config app.toml", "mytool .env.example"),
    ),
    Rule(
        "credential.print", "a program prints a credential", Group.CREDENTIAL, Severity.CRITICAL, _printed,
        denies=("gh auth token", "gcloud auth print-access-token", "kubectl get secret db -o yaml", "aws configure get aws_secret_access_key"),
        passes=("gh auth status", "gcloud auth list", "kubectl get pods", "aws configure list"),
    ),
)
