import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from mockapi.clock import Clock
from mockapi.rules.model import Rule
from mockapi.server.request_handler import RequestHandler
from mockapi.world import World, Worlds

SCOPE = {
    "type": "http",
    "method": "GET",
    "path": "/nowhere",
    "raw_path": b"/nowhere",
    "query_string": b"",
    "headers": [(b"host", b"localhost")],
    "client": ("127.0.0.1", 1),
}


def asked(do: dict[str, Any]) -> tuple[int, list[Any]]:
    """Under an ASGI server that knows nothing of wires: the status, and the journal."""
    clock = Clock()
    world = World(1, (), (Rule.model_validate({"name": "fault", "do": do}),), clock)
    sent: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    async def send(message: MutableMapping[str, Any]) -> None:
        sent.append(message)

    asyncio.run(RequestHandler(Worlds(world, clock))(dict(SCOPE), receive, send))
    return sent[0]["status"], list(world.journal.entries())


@pytest.mark.parametrize("do", [{"reset": {}}, {"hang": True}, {"content_length": "negative"}, {"keep_alive": 1}])
def test_a_fault_that_asgi_cannot_send_says_so(do: dict[str, Any]) -> None:
    status, (entry,) = asked(do)
    assert (status, entry.status) == (501, 501)


def test_other_faults_are_as_ever() -> None:
    assert asked({"status": 503})[0] == 503
    assert asked({"charset": "none"})[0] == 404
