"""Text made to be slow: every pattern here is bounded, so each of these is answered like any other.

No clock is read; a pattern that runs away shows as a test that does not end.
"""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from guard_cases import call, shell, subject
from latch_contracts.contract import Surface
from latchd.guard.rules import RULES, SELF_PROTECTION

SIZE = 20_000
HOSTILE = [
    "\n" * SIZE,
    " " * SIZE + "x",
    "a" * SIZE + "(",
    "(a=" * SIZE,
    "a=b " * SIZE,
    "rm -" * SIZE,
    "dd " * SIZE,
    "git " * SIZE,
    "find " * SIZE,
    "'\"" * SIZE,
    "/*" * SIZE,
    "with )" * SIZE,
    "LATCHD_A= " * SIZE,
    "remove-item iwr " * SIZE,
    "<<E\n" * SIZE,
    "rmtree(" + " " * SIZE,
    "NODE_OPTIONS=" * 4000 + "x",
    "LD_PRELOAD=" * 4000 + "/x",
    "copy " * SIZE,
    "grant " * SIZE,
    "dir x | " * SIZE,
    "tcpclient " * SIZE,
    "while true; do " * 4000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: text[:12].strip() or "blanks")
@pytest.mark.parametrize("tool", ["Bash", "PowerShell", "sql_query"])
def test_no_text_makes_a_rule_run_away(text: str, tool: str) -> None:
    if tool == "sql_query":
        made = subject(call(tool, Surface.MCP, {"query": text}))
    elif tool == "PowerShell":
        made = subject(call(tool, Surface.SHELL, {"command": text}, command=text))
    else:
        # the shell's own analysis has its own limits and tests: here it is left out
        plain = shell("ls")
        hostile = call(tool, Surface.SHELL, {"command": text}, command=text)
        made = replace(plain, event=replace(plain.event, call=hostile))

    for rule in (*SELF_PROTECTION, *RULES):
        assert isinstance(list(rule.findings(made)), list)
