"""One request to an ASGI application, without a server."""

import asyncio
import gzip
import json
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from starlette.types import ASGIApp


@dataclass(frozen=True)
class Answer:
    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    @property
    def text(self) -> str:
        return (gzip.decompress(self.body) if self["content-encoding"] == "gzip" else self.body).decode()

    @property
    def json(self) -> Any:
        """None for no body."""
        return json.loads(self.text) if self.body else None

    @property
    def names(self) -> list[str]:
        return [name for name, _ in self.headers]

    def __getitem__(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)


def ask(
    app: ASGIApp,
    path: str,
    *,
    method: str = "GET",
    query: str = "",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    client: str = "127.0.0.1",
) -> Answer:
    """The answer to a client that stays until it has it."""
    named = {"host": "127.0.0.1", **(headers or {})}
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode(), value.encode()) for name, value in named.items()],
        "client": (client, 4711),
    }
    received = iter([{"type": "http.request", "body": body, "more_body": False}])
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        for message in received:
            return message
        await asyncio.Event().wait()
        raise AssertionError("it was to wait")

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    async def play() -> None:
        await app(scope, receive, send)

    asyncio.run(play())
    start, *rest = sent
    pairs = tuple((name.decode(), value.decode("latin-1")) for name, value in start["headers"])
    return Answer(start["status"], pairs, b"".join(message.get("body", b"") for message in rest))
