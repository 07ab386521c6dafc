"""One engine on a real database, with a clock that the test turns, and Claude Code's side of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

from hand_clock import HandClock
from latch_contracts.places import Places
from latch_contracts.records import Record
from latch_contracts.wire import VERSION, HookRequest
from latchd.engine import Engine
from latchd.hook_calls import Handled
from latchd.policy import parse
from latchd.store.store import Store

OK = {"stdout": "", "stderr": "", "interrupted": False, "isImage": False, "noOutputExpected": False}


class Bench:
    """``send``, ``pre``, ``post``, ``fail`` are hook calls; members replace the payload's, None drops one."""

    def __init__(self, root: Path, config: bytes = b"") -> None:
        self.root = root
        self.project = root / "home" / "project"
        self.project.mkdir(parents=True, exist_ok=True)
        self.clock = HandClock()
        self.places = Places(runtime=str(root / "run"), state=str(root), config=str(root))
        self.config = config
        self.engine = self.open()

    def open(self) -> Engine:
        return Engine.open(self.places, parse(self.config), self.clock, home=str(self.root / "home"))

    @property
    def store(self) -> Store:
        """The engine's own, to do to it what time would do."""
        return self.engine._store  # pyright: ignore[reportPrivateUsage]

    def restart(self) -> None:
        self.engine.close()
        self.engine = self.open()

    def send(self, event: str, *, version: str = "", probe: bool = False, **members: Any) -> Handled:
        payload = {
            "session_id": "s1",
            "cwd": str(self.project),
            "prompt_id": "p1",
            "permission_mode": "default",
            "hook_event_name": event,
        } | members
        body = json.dumps({key: value for key, value in payload.items() if value is not None}).encode()
        return self.engine.handle(HookRequest(VERSION, "claudecode", "", version, "/", "", body, probe))

    def pre(self, command: str = "git status", call: str = "c1", **members: Any) -> Handled:
        told: dict[str, Any] = {"tool_name": "Bash", "tool_input": {"command": command}, "tool_use_id": call}
        return self.send("PreToolUse", **told | members)

    def post(self, command: str = "git status", call: str = "c1", **members: Any) -> Handled:
        told: dict[str, Any] = {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": call,
            "tool_response": OK,
        }
        return self.send("PostToolUse", **told | members)

    def fail(self, command: str = "git status", call: str = "c1", **members: Any) -> Handled:
        return self.post(command, call, hook_event_name="PostToolUseFailure", error="Exit code 1", **members)

    def states(self, call: str = "c1") -> list[tuple[str, bool]]:
        """State of every row of the call id, and whether it has a step."""
        return [(one["state"], one["step"] is not None) for one in self.engine.show(call).states]


R = TypeVar("R", bound=Record)


def only(handled: Handled, kind: type[R]) -> R:
    """The one record of a kind among those of an answer."""
    (record,) = [one for one in handled.records if isinstance(one, kind)]
    return record
