"""What is removed elsewhere by way of something else: a package runner, a plain HTTP request.

What the clients of containers, clusters, clouds and registries say themselves is in latchd/rules/packs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

from latch_contracts.facts import Effect, Scope
from latch_contracts.verdict import Route, Severity
from latchd.guard.groups import Group
from latchd.guard.rule import Hit, Rule
from latchd.guard.subject import Subject
from latchd.shell.facts import analyze

_RUNNERS: Final = frozenset("npx pnpx bunx uvx pipx pnpm yarn bun npm".split())
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


_GO: Final = frozenset(("run", "exec", "dlx", "x"))
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
        denies=(
            "npx prisma db push --force-reset",
            "npx -y supabase db reset --linked",
            "pnpm prisma migrate reset --force",
            "yarn prisma db push --force-reset",
            "npm run prisma -- migrate reset --force",
        ),
        passes=(
            "npx prettier .",
            "npx prisma generate",
            "pnpm prisma migrate dev",
            "yarn prisma generate",
            "npm run reset",
        ),
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
)
