"""A hook ``MODE FILE``: keeps every payload in FILE. Standard library only.

MODE is what it does to a proposal: allow it, deny it, or rewrite its command to ``echo rewritten``.
"""

from __future__ import annotations

import json
import sys


def main() -> int:
    _, mode, file = sys.argv
    payload = json.load(sys.stdin)
    with open(file, "a", encoding="utf-8") as seen:  # noqa: PTH123 — one write, no pathlib to start
        seen.write(json.dumps(payload) + "\n")
    if mode == "allow" or payload["hook_event_name"] != "PreToolUse":
        return 0
    if mode == "rewrite":
        rewritten = {"hookEventName": "PreToolUse", "updatedInput": {"command": "echo rewritten"}}
        print(json.dumps({"hookSpecificOutput": rewritten}))
        return 0
    reason = "refused for the record"
    output = {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": reason,
    }
    print(json.dumps({"hookSpecificOutput": output}))
    print(reason, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
