"""The least of a debugger: attaches over the Debug Adapter Protocol, stops at a line, looks, and lets go."""

import itertools
import json
import socket
from pathlib import Path
from types import TracebackType
from typing import Any, Self


class DebugClient:
    """A context manager; each wait ends with the socket's timeout."""

    def __init__(self, port: int, *, timeout_s: float = 120) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        self._file = self._socket.makefile("rb")
        self._numbers = itertools.count(1)
        self._events: list[dict[str, Any]] = []

    def attach(self, file: Path, line: int) -> None:
        """Attach, with a breakpoint; what waited for a client goes on."""
        self.ask("initialize", adapterID="devkit", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
        attach = self._send("attach", justMyCode=False)
        self.event("initialized")
        self.ask("setBreakpoints", source={"path": str(file)}, breakpoints=[{"line": line}])
        self.ask("configurationDone")
        self._answer(attach)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        return self._answer(self._send(command, **arguments))

    def event(self, name: str) -> dict[str, Any]:
        """The next event of that name, which may have come already."""
        while True:
            for event in self._events:
                if event["event"] == name:
                    self._events.remove(event)
                    body: dict[str, Any] = event.get("body", {})
                    return body
            self._take()

    def value_at_the_stop(self, expression: str) -> str:
        """Waits until a thread has stopped, and evaluates something there."""
        thread = self.event("stopped")["threadId"]
        (frame, *_) = self.ask("stackTrace", threadId=thread)["stackFrames"]
        return str(self.ask("evaluate", expression=expression, frameId=frame["id"])["result"])

    def let_go(self) -> None:
        """Detach; the program goes on as if nobody had looked."""
        self.ask("disconnect", terminateDebuggee=False)

    def _send(self, command: str, **arguments: Any) -> int:
        number = next(self._numbers)
        body = json.dumps({"seq": number, "type": "request", "command": command, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
        return number

    def _answer(self, number: int) -> dict[str, Any]:
        while True:
            message = self._take()
            if message["type"] == "response" and message["request_seq"] == number:
                assert message["success"], message
                body: dict[str, Any] = message.get("body", {})
                return body

    def _take(self) -> dict[str, Any]:
        length = 0
        while header := self._file.readline().strip():
            name, _, value = header.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the debuggee is gone"
        message: dict[str, Any] = json.loads(self._file.read(length))
        if message["type"] == "event":
            self._events.append(message)
        return message

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()
        self._socket.close()
