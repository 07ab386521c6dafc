"""Containers, clusters, clouds, databases and registries: what a command removes there for good."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator
from typing import Final

from latch_contracts.facts import Effect, Scope
from latch_contracts.verdict import Route, Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.facts import analyze


def _detail(detail: str, says: str, instead: str) -> Callable[[Subject], Iterator[Hit]]:
    def check(subject: Subject) -> Iterator[Hit]:
        for command in subject.acting():
            if detail in command.details:
                yield Hit(command.id, " ".join(command.argv[:3]).replace("\0", "$…")[:60], says, instead)

    return check


def _remote(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if "remote-loss" in command.details and command.program not in ("git", "hg", "svn", "jj"):
            yield Hit(
                command.id,
                " ".join(command.argv[:2])[:60],
                "this removes files on another machine",
                "copy without deleting, or let the person run it",
            )


def _host_access(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if {"host-mount", "privileged"} & set(command.details):
            what = "a mount of the machine" if "host-mount" in command.details else "rights of the machine"
            yield Hit(
                command.id,
                what,
                f"this gives a container {what}, and what it does with it can't be told",
                "mount the directory that is needed alone",
            )


_RUNNERS: Final = frozenset("npx pnpx bunx uvx pipx".split())
_LOSSES: Final = frozenset(
    (
        "container-loss",
        "cluster-loss",
        "cloud-loss",
        "infra-loss",
        "registry-loss",
        "database-loss",
        "remote-loss",
    )
)
_RESETS: Final = frozenset(("--force-reset", "--accept-data-loss"))


def _through_runner(subject: Subject) -> Iterator[Hit]:
    """A package runner starts the client named in its words: that client's table says what it removes."""
    for command in subject.acting():
        words = command.argv[1:]
        at = next(
            (at for at, word in enumerate(words) if not word.startswith("-") and word not in _GO), len(words)
        )
        if command.program not in _RUNNERS or at == len(words) or any("\0" in word for word in words):
            continue
        client = words[at].partition("@")[0] or words[at]
        inner = analyze(shlex.join((client, *words[at + 1 :])), cwd=subject.facts.cwd, home=subject.home)
        loses = any(
            _LOSSES & set(each.details) for each in inner.commands if each.effect is not Effect.PREVIEW
        )
        if loses or _RESETS & set(words):
            yield Hit(
                command.id,
                client[:60],
                f"`{client[:60]}` removes something for good",
                "let the person run it, or work on a copy",
            )


_GO: Final = frozenset(("run", "exec"))
_HTTP: Final = frozenset(("curl", "http", "https", "xh", "httpie", "curlie", "wget"))
_METHOD: Final = re.compile(r"(?:-X|--request|--method)(?:=|\0)?DELETE(?:\0|$)|\0DELETE\0", re.IGNORECASE)
_BULK: Final = re.compile(r"/_delete_by_query|/_all\b|tsdb/delete_series|/_close\b")


def _http_delete(subject: Subject) -> Iterator[Hit]:
    for command in subject.acting():
        if command.program not in _HTTP:
            continue
        words = "\0" + "\0".join(word.replace("\0", "") for word in command.argv[1:]) + "\0"
        near = {fact.scope for fact in subject.facts.network if fact.command_id == command.id} == {
            Scope.LOOPBACK
        }
        bulk = _BULK.search(words) is not None
        # a project's own server on this machine is asked to delete things all day
        if bulk or (_METHOD.search(words) and (not near or _STORES.search(words))):
            yield Hit(
                command.id,
                "DELETE",
                "this asks a service to delete something",
                "let the person send it, or work on a copy",
            )


_STORES: Final = re.compile(r":(?:9200|7700|8001|9090|8500|2379|5984|6333|8086|9000)\b")

RULES: Final = (
    Rule(
        "infra.through-runner",
        "a package runner starts a client that removes something",
        Group.DESTROY,
        Severity.HIGH,
        _through_runner,
        denies=("npx prisma db push --force-reset", "npx -y supabase db reset --linked"),
        passes=("npx prettier .", "npx prisma generate"),
    ),
    Rule(
        "infra.http-delete",
        "a service is asked to delete something",
        Group.UPLOAD_UNKNOWN,
        Severity.MEDIUM,
        _http_delete,
        denies=(
            "curl -X DELETE https://api.example.com/v1/things/1",
            "curl -XDELETE http://localhost:9200/index",
            "http DELETE api.example.com/x",
        ),
        passes=(
            "curl -X POST https://api.example.com/v1/things",
            "curl -X DELETE http://localhost:3000/todos/1",
            "echo -X DELETE",
        ),
        route=Route.FALLBACK,
    ),
    Rule(
        "remote.delete",
        "files on another machine are removed",
        Group.DESTROY,
        Severity.HIGH,
        _remote,
        denies=("rsync -a --delete a/ host.example:b/",),
        passes=("rsync -a a/ host.example:b/", "rsync -an --delete a/ h.example:b/"),
    ),
    Rule(
        "infra.container-loss",
        "containers, images or volumes are removed",
        Group.DESTROY,
        Severity.HIGH,
        _detail(
            "container-loss",
            "this removes containers, images or volumes with what they hold",
            "remove one stopped container by name, or let the person run it",
        ),
        denies=("docker system prune -af --volumes", "docker-compose down -v", "docker volume rm data"),
        passes=("docker ps", "docker compose down", "docker build ."),
    ),
    Rule(
        "infra.host-access",
        "a container is given the machine",
        Group.CANNOT_VOUCH,
        Severity.HIGH,
        _host_access,
        denies=(
            "docker run -v /:/host alpine",
            "docker run --mount type=bind,source=/etc,target=/e x",
            "docker run -v /var/run/docker.sock:/var/run/docker.sock x",
            "docker run --privileged x",
        ),
        passes=("docker run -v ./a:/a x", "docker run -v data:/var/lib x", "docker run --rm x"),
    ),
    Rule(
        "infra.cluster-loss",
        "cluster objects are removed",
        Group.DESTROY,
        Severity.HIGH,
        _detail(
            "cluster-loss",
            "this removes objects of a cluster",
            "show what would go with --dry-run, and let the person run it",
        ),
        denies=("kubectl delete namespace prod", "helm uninstall api"),
        passes=("kubectl get pods", "kubectl delete pod x --dry-run=client", "helm list"),
    ),
    Rule(
        "infra.cloud-loss",
        "cloud resources are removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _detail("cloud-loss", "this removes resources in the cloud", "let the person run it"),
        denies=(
            "aws s3 rb s3://b --force",
            "aws ec2 terminate-instances --instance-ids i-1",
            "gcloud projects delete p",
        ),
        passes=("aws s3 ls", "aws ec2 describe-instances", "gcloud projects list"),
    ),
    Rule(
        "infra.destroy",
        "infrastructure is destroyed",
        Group.DESTROY,
        Severity.CRITICAL,
        _detail(
            "infra-loss",
            "this destroys infrastructure or forgets what it manages",
            "make a plan and let the person apply it",
        ),
        denies=("terraform destroy -auto-approve", "terraform -chdir=x destroy"),
        passes=("terraform plan -destroy -out=p", "terraform validate"),
    ),
    Rule(
        "infra.registry-loss",
        "something published is removed for everyone",
        Group.DESTROY,
        Severity.HIGH,
        _detail(
            "registry-loss",
            "this removes a package, release or repository for everyone",
            "let the person do it",
        ),
        denies=("gh repo delete o/r --yes", "npm unpublish x --force"),
        passes=("gh repo view", "npm view x"),
    ),
    Rule(
        "db.loss",
        "tables, databases or all rows are removed",
        Group.DESTROY,
        Severity.CRITICAL,
        _detail(
            "database-loss",
            "this removes tables, a database or every row",
            "work on a copy, or let the person run it",
        ),
        denies=(
            "psql -c 'DROP TABLE users'",
            "dropdb prod",
            "redis-cli FLUSHALL",
        ),
        passes=("psql -c 'SELECT 1'", "echo 'DROP TABLE users'", 'psql -c "DELETE FROM t WHERE id = 1"'),
    ),
)
