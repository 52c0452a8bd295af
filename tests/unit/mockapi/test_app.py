import asyncio
import ipaddress
from collections.abc import MutableMapping
from typing import Any

import pytest

from mockapi.app import create_app, may_control
from mockapi.world import Clock, World, Worlds


@pytest.mark.parametrize(
    ("address", "own"),
    [
        ("127.0.0.1", True),
        ("127.1.2.3", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("10.0.0.1", False),
        ("::ffff:10.0.0.1", False),
        ("localhost", False),
        ("", False),
    ],
)
def test_the_control_knows_its_own_machine(address: str, own: bool) -> None:
    assert may_control(address) is own


@pytest.mark.parametrize(
    ("address", "allowed"),
    [
        ("172.17.0.1", True),
        ("::ffff:172.17.0.1", True),
        ("127.0.0.1", True),
        ("fd00::5", True),
        ("172.32.0.1", False),
        ("fd01::5", False),
        ("", False),
    ],
)
def test_networks_are_allowed_besides(address: str, allowed: bool) -> None:
    networks = [ipaddress.ip_network("172.16.0.0/12"), ipaddress.ip_network("fd00::/16")]
    assert may_control(address, networks) is allowed


@pytest.mark.parametrize(
    ("peer", "path", "status"),
    [
        ("127.0.0.1", "/__mock/state", 200),
        ("172.17.0.1", "/__mock/state", 200),
        ("192.0.2.1", "/__mock/state", 403),
        ("192.0.2.1", "/w/rest.php/v1/revision/5/html", 404),
    ],
)
def test_the_control_answers_from_where_it_may_and_the_wiki_from_everywhere(peer: str, path: str, status: int) -> None:
    assert asyncio.run(asked(peer, path))[0] == status


def test_who_may_not_control_is_told_who_may() -> None:
    _, body = asyncio.run(asked("192.0.2.1", "/__mock/state"))
    assert b"192.0.2.1" in body
    assert b"the control answers on loopback and in 172.16.0.0/12 only" in body
    assert b"--allow-control" in body


async def asked(peer: str, path: str) -> tuple[int, bytes]:
    """Status and body of a GET by `peer`, where 172.16.0.0/12 may control."""
    clock = Clock()
    app = create_app(Worlds(World(1, [], (), clock), clock), [ipaddress.ip_network("172.16.0.0/12")])
    scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": (peer, 5), "query_string": b""}
    messages: list[MutableMapping[str, Any]] = []

    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: MutableMapping[str, Any]) -> None:
        messages.append(message)

    await app(scope, receive, send)
    return messages[0]["status"], b"".join(message.get("body", b"") for message in messages)
