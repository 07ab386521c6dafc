"""The model of a live run: an Anthropic Messages API on loopback whose every turn comes from the test.

Run as ``python -IS model_server.py CONTROL``; the port it took is its one line of stdout. Each
request of the conversation is told on the Unix socket CONTROL, one JSON line with what the model
is told, and the JSON line that comes back holds the content blocks of the next turn. Nothing is
queued: the agent waits for as long as the test thinks. Every request is kept whole, one line each,
in the file CONTROL.asked. Standard library only.
"""

from __future__ import annotations

import json
import secrets
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

CONTROL: Final = sys.argv[1] if len(sys.argv) > 1 else ""

_REMINDER: Final = "<system-reminder>"  # the CLI's own words to the model, after the result
_ASIDE: Final = [{"type": "text", "text": "ok"}]  # to requests beside the conversation: titles, topics


def told(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The tool results that stand after the last assistant message: what the model now learns."""
    results: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            results = []
            continue
        content: str | list[dict[str, Any]] = message["content"]
        if not isinstance(content, str):
            results += [_result(block) for block in content if block["type"] == "tool_result"]
    return results


def _result(block: dict[str, Any]) -> dict[str, Any]:
    content: str | list[dict[str, Any]] = block.get("content", "")
    if not isinstance(content, str):
        content = "".join(part.get("text", "") for part in content)
    text = content.partition(_REMINDER)[0].rstrip("\n")
    return {"call": block["tool_use_id"], "is_error": bool(block.get("is_error")), "text": text}


def events(model: str, blocks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The stream of one assistant message, as the API sends it."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message: dict[str, Any] = {
        "id": f"msg_{secrets.token_hex(8)}",  # the CLI joins messages of one id
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            start: dict[str, Any] = block | {"input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        else:
            start = block | {"text": ""}
            delta = {"type": "text_delta", "text": block["text"]}
        yield {"type": "content_block_start", "index": index, "content_block": start}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    reason = "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": usage}
    yield {"type": "message_stop"}


def next_turn(results: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask the test, which is the model, what it says to this."""
    with socket.socket(socket.AF_UNIX) as control:
        control.connect(CONTROL)
        control.sendall(json.dumps(results).encode() + b"\n")
        with control.makefile("rb") as answers:
            turn: list[dict[str, Any]] = json.loads(answers.readline())
            return turn


class Messages(BaseHTTPRequestHandler):
    """POST …/v1/messages; everything else is not found."""

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        with open(f"{CONTROL}.asked", "a", encoding="utf-8") as asked:  # noqa: PTH123 (no pathlib here)
            asked.write(json.dumps(body) + "\n")
        if self.path.partition("?")[0] != "/v1/messages":
            self.send_error(404)
            return
        # Only the conversation offers tools.
        blocks = next_turn(told(body["messages"])) if body.get("tools") else _ASIDE
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream" if body.get("stream") else "application/json")
        self.end_headers()
        if not body.get("stream"):
            message = next(events(body["model"], blocks))["message"]
            self.wfile.write(json.dumps(message | {"content": blocks, "stop_reason": "end_turn"}).encode())
            return
        for event in events(body["model"], blocks):
            self.wfile.write(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode())

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 — the base class names it so
        """Silence: the test sees every request itself."""


def main() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Messages)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
