"""`latchctl scan`: judge the shell text in a repository's files, for CI. No daemon; nothing is run."""

from __future__ import annotations

import argparse
import os
import posixpath
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from latch_client import offline
from latch_client.errors import DONE, FAILED, USAGE, UsageError
from latch_client.output import print_json
from latch_client.paint import Paint, wanted
from latch_client.scan import report, sarif, walk
from latch_client.scan.kinds import READERS, by_head, by_name, may_tell
from latch_client.scan.report import FailOn, Hit, Report, Unread
from latch_client.scan.snippet import MAX_BYTES, Snippet, Unreadable
from latch_client.subparsers import Subparsers

if TYPE_CHECKING:
    from latchd.policy import Policy

FORMATS = ("human", "json", "sarif")
STDIN = "(stdin)"
# Bytes by which a script colours what it prints; a command of an agent with one is not read at all.
_COLOURS: dict[int, str] = dict.fromkeys((7, 8, 11, 12, 14, 15, 27), " ")


def add(subparsers: Subparsers) -> None:
    parser = subparsers.add_parser(
        "scan",
        help="judge the shell text in files, for CI",
        description="Judge shell scripts, Dockerfiles, GitHub and GitLab workflows, makefiles and the "
        "scripts of package.json as the guard would judge them as commands. Exit code 0: nothing at or over "
        "--fail-on; 1: something; 2: nothing, but a file can't be read.",
    )
    parser.add_argument("paths", nargs="+", metavar="PATH", help="a file, a directory, or - for stdin")
    parser.add_argument("--format", choices=FORMATS, default="human", help="human (default), json or sarif")
    parser.add_argument(
        "--fail-on",
        choices=[limit.value for limit in FailOn],
        default=FailOn.DENY.value,
        help="from what on the exit code is 1 (default deny)",
    )
    parser.add_argument(
        "--kind", choices=sorted(READERS), help="read the files named, and stdin, as this kind"
    )
    parser.add_argument(
        "--exclude",
        action="append",
        default=[],
        metavar="GLOB",
        help="leave these paths out; may be repeated",
    )
    parser.add_argument("--all", action="store_true", help="show what the policy lets pass too")
    offline.with_policy(parser)
    parser.add_argument(
        "--cwd", metavar="DIR", help=f"what the repository's root is called (default {offline.CWD})"
    )
    parser.add_argument("--home", metavar="DIR", help=f"whose home (default {offline.HOME})")
    parser.set_defaults(func=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.paths.count("-") > 1:
        raise UsageError("stdin can be read once")
    policy = offline.policy_of(arguments)
    limit = FailOn(arguments.fail_on)
    scanned = scan(arguments, policy)
    told = report.shown(scanned, limit, everything=arguments.all)
    if arguments.format == "json":
        print_json(report.members(told))
    elif arguments.format == "sarif":
        print_json(_sarif(told))
    else:
        print("\n".join(report.lines(told, Paint(coloured=wanted(sys.stdout)))))
    if report.worst(scanned.hits, limit):
        return FAILED
    return USAGE if scanned.unread else DONE


def scan(arguments: argparse.Namespace, policy: Policy) -> Report:
    """Everything that is found in the files of the command line, in its order and theirs."""
    hits: list[Hit] = []
    unread: list[Unread] = []
    files = snippets = 0
    for path, kind in _files(arguments.paths, arguments.exclude, arguments.kind, unread):
        try:
            found = _snippets(path, kind)
        except Unreadable as error:
            unread.append(Unread(path, str(error)))
            continue
        files += 1
        snippets += len(found[1])
        hits += _hits(path, *found, policy, arguments.cwd or offline.CWD, arguments.home or offline.HOME)
    return Report(tuple(hits), tuple(unread), files, snippets, policy.profile.value)


def _files(
    paths: Sequence[str], exclude: Sequence[str], kind: str | None, unread: list[Unread]
) -> Iterator[tuple[str, str]]:
    """Each file with its kind, once."""
    done: set[str] = set()
    for named in paths:
        if named == "-":
            yield STDIN, kind or "shell"
            continue
        for path in [named] if not Path(named).is_dir() else walk.files(named.rstrip("/") or "/", exclude):
            told = kind if path == named and kind else _kind(path)
            if path in done:
                continue
            done.add(path)
            if told:
                yield path, told
            elif path == named:
                why = (
                    "is no kind of file that is read; --kind says what it is"
                    if Path(path).exists()
                    else "no such file or directory"
                )
                unread.append(Unread(path, why))


def _kind(path: str) -> str:
    """By the whole path, because a workflow is one by the directory it stands in."""
    if kind := by_name(str(Path(path).absolute())):
        return kind
    if not may_tell(path.rpartition("/")[2]):
        return ""
    try:
        return by_head(_bytes(path, 128).decode("utf-8", "replace"))
    except (OSError, Unreadable):
        return ""


def _snippets(path: str, kind: str) -> tuple[list[str], list[Snippet]]:
    """The file's lines, and its shell texts. Raises Unreadable."""
    try:
        data = sys.stdin.buffer.read(MAX_BYTES + 1) if path == STDIN else _bytes(path, MAX_BYTES + 1)
    except OSError as error:
        raise Unreadable((error.strerror or str(error)).lower()) from None
    if len(data) > MAX_BYTES:
        raise Unreadable(f"is larger than {MAX_BYTES} bytes")
    if b"\0" in data:
        raise Unreadable("is no text")
    try:
        text = data.decode("utf-8-sig").replace("\r\n", "\n").translate(_COLOURS)
    except UnicodeDecodeError as error:
        raise Unreadable(f"is not UTF-8 at byte {error.start}") from None
    return text.split("\n"), list(READERS[kind](text))


def _bytes(path: str, most: int) -> bytes:
    """At most so many bytes of a regular file; a pipe that somebody put there is not waited for."""
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:  # noqa: PTH123
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise Unreadable("is no regular file")
        return file.read(most)


def _hits(
    path: str, lines: list[str], snippets: list[Snippet], policy: Policy, cwd: str, home: str
) -> Iterator[Hit]:
    from latch_contracts.verdict import Action
    from latchd.passages import look

    rank = list(Action).index
    found: dict[tuple[int, str], Hit] = {}  # a line that runs in several ways is told of once by each rule
    for snippet in snippets:
        where = posixpath.normpath(posixpath.join(cwd, snippet.cwd))
        for told in look(
            snippet.text, policy, cwd=where, home=home, in_image=snippet.in_image, stops=snippet.stops
        ):
            line = min(snippet.line(told.line), len(lines))
            hit = Hit(
                path=path,
                line=line,
                rule=told.finding.rule,
                group=str(told.finding.group),
                severity=told.finding.severity,
                action=told.action,
                message=told.finding.reason,
                text=lines[line - 1],
            )
            told_before = found.get((line, hit.rule))
            if told_before is None or rank(hit.action) > rank(told_before.action):
                found[line, hit.rule] = hit
    yield from sorted(found.values(), key=lambda hit: (hit.line, hit.rule, hit.message))


def _sarif(told: Report) -> dict[str, object]:
    from importlib import metadata

    from latchd.guard.groups import TITLES
    from latchd.rules.bundled import released

    titles = {entry.rule.id: entry.rule.title for entry in released().entries}
    groups = {group.value: title for group, title in TITLES.items()}
    return sarif.document(told, titles, groups, metadata.version("latchd"))
