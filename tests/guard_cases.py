"""Proposals made by hand, for the guard's tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from latch_contracts.contract import Event, Kind, Route, Surface
from latch_contracts.events import Call, HookEvent
from latchd.files import FileView
from latchd.guard.subject import Subject
from latchd.policy import Policy
from latchd.tool_facts import facts_of

PROJECT = "/home/dev/project"
HOME = "/home/dev"
PROPOSAL = Event("PreToolUse", Route.ACTION, Kind.PROPOSAL, blockable=True)


def call(
    tool: str,
    surface: Surface,
    arguments: dict[str, Any] | None = None,
    *,
    command: str | None = None,
    paths: tuple[str, ...] = (),
    urls: tuple[str, ...] = (),
) -> Call:
    return Call(
        id="toolu_1",
        tool=tool,
        surface=surface,
        arguments=arguments or {},
        input_digest=b"",
        command=command,
        paths=paths,
        urls=urls,
    )


def subject(
    proposed: Call,
    *,
    policy: Policy | None = None,
    files: Mapping[str, FileView] | None = None,
    cwd: str = PROJECT,
    connector: str = "claudecode",
) -> Subject:
    event = HookEvent(
        connector=connector,
        event=PROPOSAL,
        session="s",
        agent="",
        turn="",
        cwd=cwd,
        fingerprint=b"",
        call=proposed,
    )
    return Subject(
        event=event,
        facts=facts_of(proposed, cwd=cwd, home=HOME),
        files=files or {},
        policy=policy or Policy(),
    )


def shell(command: str, **others: Any) -> Subject:
    return subject(call("Bash", Surface.SHELL, {"command": command}, command=command), **others)


def write(path: str, **others: Any) -> Subject:
    return subject(call("Write", Surface.WRITE, {"file_path": path, "content": "x"}, paths=(path,)), **others)


def edit(path: str, **others: Any) -> Subject:
    return subject(call("Edit", Surface.EDIT, {"file_path": path}, paths=(path,)), **others)


def read(path: str, **others: Any) -> Subject:
    return subject(call("Read", Surface.READ, {"file_path": path}, paths=(path,)), **others)
