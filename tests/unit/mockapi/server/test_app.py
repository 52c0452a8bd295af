import ipaddress

import pytest

from mockapi.clock import Clock
from mockapi.control.access import Access
from mockapi.server.app import create_app
from mockapi.world import World, Worlds
from tests.unit.mockapi.asgi import Answer, ask

NETWORK = ipaddress.ip_network("172.16.0.0/12")


def asked(peer: str, path: str, access: Access, authorization: str | None = None) -> Answer:
    clock = Clock()
    app = create_app(Worlds(World(1, [], (), clock), clock), access)
    return ask(app, path, headers={"authorization": authorization} if authorization else {}, client=peer)


@pytest.mark.parametrize(
    ("peer", "path", "status"),
    [
        ("127.0.0.1", "/__mock/state", 200),
        ("172.17.0.1", "/__mock/state", 200),
        ("192.0.2.1", "/__mock/state", 403),
        ("192.0.2.1", "/__mock", 403),
        ("192.0.2.1", "/metrics", 403),
        ("192.0.2.1", "/docs", 403),
        ("192.0.2.1", "/openapi.json", 403),
        ("127.0.0.1", "/metrics", 200),
        ("192.0.2.1", "/__mockery", 404),
        ("192.0.2.1", "/w/rest.php/v1/revision/5/html", 404),
    ],
)
def test_the_control_answers_from_where_it_may_and_the_wiki_from_everywhere(peer: str, path: str, status: int) -> None:
    assert asked(peer, path, Access((NETWORK,))).status == status


def test_who_may_not_control_is_told_who_may() -> None:
    body = asked("192.0.2.1", "/__mock/state", Access((NETWORK,))).body
    assert b"192.0.2.1" in body
    assert b"the control answers on loopback and in 172.16.0.0/12 only" in body
    assert b"--allow-control" in body


@pytest.mark.parametrize(
    ("path", "authorization", "status"),
    [
        ("/__mock/state", None, 401),
        ("/__mock/state", "Bearer wrong", 401),
        ("/__mock/state", "Bearer secret", 200),
        ("/metrics", None, 401),
        ("/metrics", "Bearer secret", 200),
        ("/__mock/", None, 200),
        ("/__mock/page.js", None, 200),
        ("/docs", None, 200),
        ("/w/rest.php/v1/revision/5/html", None, 404),
    ],
)
def test_with_a_token_only_what_shows_no_state_goes_without(path: str, authorization: str | None, status: int) -> None:
    assert asked("192.0.2.1", path, Access(token="secret"), authorization).status == status
