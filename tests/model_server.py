"""A model on loopback: both vendors' wire formats over real HTTP, with faults on demand.

Runs in a process of its own (`python model_server.py`), so that its work costs the tested
process nothing; `ModelServer` starts and asks it.

A fault is a mapping: {"kind": ..., "status": 429, "headers": {...}, "body": ..., "after": 3}.
Each request takes the next fault of the script; when the script is empty a request gets a
good answer after `latency_s`. `every` repeats a fault at each n-th request.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

VERDICT = {"reason": "as it should be", "score": 4}


class ModelServer:
    """A running server; `base_url` is what an openai judge takes."""

    def __init__(self, **script: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(Path(__file__).resolve())], stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"
        self.base_url = f"{self.url}/v1"
        self.script(**script)

    def script(self, **script: Any) -> None:
        """Set latency_s, verdict, text, faults, always, every, seed; forget what was asked."""
        self.send("POST", "/script", script)

    def requests(self) -> list[dict[str, Any]]:
        """Return the bodies of all requests to a model, with their path and key."""
        return json.loads(self.send("GET", "/requests"))

    def send(self, method: str, path: str, body: Any = None) -> str:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    def close(self) -> None:
        self.process.terminate()
        self.process.wait(timeout=5)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def __enter__(self) -> ModelServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Served:
    """What the server was told, and what it was asked."""

    def __init__(self) -> None:
        self.set({})

    def set(self, script: dict[str, Any]) -> None:
        self.latency_s = script.get("latency_s", 0.0)
        self.verdict = script.get("verdict", VERDICT)
        self.text = script.get("text")
        self.faults = list(script.get("faults", ()))
        self.always = script.get("always")
        self.every = script.get("every")
        self.asked: list[dict[str, Any]] = []
        self.at_once = self.most_at_once = 0

    def next_fault(self) -> dict[str, Any] | None:
        if self.always is not None:
            return self.always
        if self.every and len(self.asked) % self.every[0] == 0:
            faults = self.every[1:]
            return faults[len(self.asked) // self.every[0] % len(faults)]
        return self.faults.pop(0) if self.faults else None


def chat_answer(served: Served, body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    text = served.text if served.text is not None else json.dumps(served.verdict)
    message = {"role": "assistant", "content": text, **changes.pop("message", {})}
    choice = {"index": 0, "finish_reason": "stop", "message": message, **changes.pop("choice", {})}
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": body.get("model"),
        "choices": [choice],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120},
        **changes,
    }


def message_answer(served: Served, body: dict[str, Any], **changes: Any) -> dict[str, Any]:
    if body.get("tool_choice"):
        name = body["tool_choice"]["name"]
        block = {"type": "tool_use", "id": "toolu_1", "name": name, "input": served.verdict}
    else:
        text = served.text if served.text is not None else json.dumps(served.verdict)
        block = {"type": "text", "text": text}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model"),
        "content": [block],
        "stop_reason": "tool_use" if block["type"] == "tool_use" else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 100, "output_tokens": 20},
        **changes,
    }


def refused(fault: dict[str, Any], body: dict[str, Any]) -> str | None:
    """Return the argument of a request that a picky model refuses."""
    for name in fault.get("refuses", ()):
        if name in body:
            return name
        kind = (body.get("response_format") or {}).get("type")
        if name == kind:
            return name
    return None


async def answer(served: Served, path: str, body: dict[str, Any], write: Any) -> None:
    """Write one answer of the model, good or bad."""
    is_chat = path.endswith("/chat/completions")
    make = chat_answer if is_chat else message_answer
    fault = served.next_fault() or {}
    kind = fault.get("kind", "good")
    await asyncio.sleep(fault.get("latency_s", served.latency_s))
    if kind == "status":
        said = fault.get("message", "told to fail")
        error = {"message": said, "type": "error", "code": fault.get("code"), "param": None}
        write(fault["status"], json.dumps({"error": error}), fault.get("headers", {}))
    elif kind == "picky":
        name = refused(fault, body)
        if name is None:
            write(200, json.dumps(make(served, body)))
        else:
            said = f"Unsupported parameter: '{name}' is not supported with this model."
            if name == "max_tokens":
                said += " Use 'max_completion_tokens' instead."
            error = {"message": said, "type": "invalid_request_error", "code": None}
            write(400, json.dumps({"type": "error", "error": error}))
    elif kind == "raw":
        write(fault.get("status", 200), fault["body"], {"content-type": fault["type"]})
    elif kind == "cut":
        text = json.dumps(make(served, body))
        write(200, text[: len(text) // 2], {"content-length": str(len(text))}, cut=True)
    elif kind == "hang":
        await asyncio.sleep(fault.get("for_s", 30))
    else:
        write(200, json.dumps(make(served, body, **fault.get("changes", {}))))


async def serve_one(served: Served, reader: Any, writer: Any) -> None:
    """Serve one connection, request after request."""

    def write(status: int, text: str, headers: Any = None, *, cut: bool = False) -> None:
        data = text.encode()
        fields = {"content-type": "application/json", "content-length": str(len(data))}
        fields |= headers or {}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        writer.write(f"HTTP/1.1 {status} X\r\n{head}\r\n".encode() + data)
        if cut:
            writer.close()

    with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
        while not writer.is_closing():
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            method, path, _ = head.split(" ", 2)
            fields = {
                name.lower(): value.strip()
                for name, _, value in (line.partition(":") for line in head.split("\r\n")[1:])
            }
            data = await reader.readexactly(int(fields.get("content-length", 0)))
            body = json.loads(data) if data else {}
            if path == "/script":
                served.set(body)
                write(200, "{}")
            elif path == "/requests":
                write(200, json.dumps(served.asked))
            elif path == "/most_at_once":
                write(200, json.dumps(served.most_at_once))
            else:
                key = fields.get("authorization", fields.get("x-api-key"))
                served.asked.append({"path": path, "key": key, "body": body, "method": method})
                served.at_once += 1
                served.most_at_once = max(served.most_at_once, served.at_once)
                try:
                    await answer(served, path, body, write)
                finally:
                    served.at_once -= 1
            await writer.drain()
    with contextlib.suppress(Exception):
        writer.close()


async def main() -> None:
    served = Served()
    server = await asyncio.start_server(
        lambda reader, writer: serve_one(served, reader, writer), "127.0.0.1", 0
    )
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    parent = os.getppid()
    while os.getppid() == parent:  # ends with whoever started it, killed or not
        await asyncio.sleep(0.5)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    asyncio.run(main())
