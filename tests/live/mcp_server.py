"""An MCP server over stdio with one tool, ``say``: gives its words back, as an error when told to fail.

Standard library only; as much of the protocol as one client needs.
"""

from __future__ import annotations

import json
import sys
from typing import Any, Final

_SCHEMA: Final = {
    "type": "object",
    "properties": {"words": {"type": "string"}, "fail": {"type": "boolean"}},
    "required": ["words"],
}


def answer(method: str, given: dict[str, Any]) -> dict[str, Any]:
    match method:
        case "initialize":
            return {
                "protocolVersion": given["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "echo", "version": "1"},
            }
        case "tools/list":
            return {"tools": [{"name": "say", "description": "Say words.", "inputSchema": _SCHEMA}]}
        case "tools/call":
            said = given["arguments"]
            return {
                "content": [{"type": "text", "text": said["words"]}],
                "isError": bool(said.get("fail")),
            }
        case _:
            return {}


def main() -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if "id" in request:  # a notification wants no answer
            result = answer(request["method"], request.get("params", {}))
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": result}), flush=True)


if __name__ == "__main__":
    main()
