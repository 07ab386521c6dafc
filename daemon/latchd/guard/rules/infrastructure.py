"""Containers, clusters, clouds, databases and registries: what a command removes there for good."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from latch_contracts.verdict import Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject


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


RULES: Final = (
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
