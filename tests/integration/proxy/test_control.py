"""The proxy's process over its control interface: what it answers, and that it stays on loopback."""

import socket
import threading
from collections.abc import Iterator
from datetime import timedelta

import psutil
import pytest
import requests

from devkit.proxy.client import ProxyControl, ProxyRefusedError, UnknownToxicError
from devkit.proxy.toxics.blackhole import Blackhole
from devkit.proxy.toxics.cut import Cut
from devkit.proxy.toxics.store_error import StoreError
from devkit.stack.front import Front

ROOMS = ("devkit/proxy",)
DEADLINE_S = 10


@pytest.fixture
def upstream() -> Iterator[str]:
    """Sends back what it gets, one connection after the other."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    while data := connection.recv(1024):
                        connection.sendall(data)

        thread = threading.Thread(target=serve)
        thread.start()
        yield "{}:{}".format(*server.getsockname())
        server.shutdown(socket.SHUT_RDWR)
    thread.join()


def connect(address: str) -> socket.socket:
    host, port = address.split(":")
    return socket.create_connection((host, int(port)), timeout=DEADLINE_S)


def test_a_listener_from_its_start_to_its_end(control: ProxyControl, upstream: str) -> None:
    state = control.listen("echo", upstream)
    assert (state.name, state.layer, state.upstream, state.listening) == ("echo", "tcp", upstream, True)
    with connect(state.address) as client:
        client.sendall(b"hello")
        assert client.recv(5) == b"hello"
        control.add("echo", "silence / all", Blackhole(), direction="to_server", ttl=timedelta(hours=1), seed=3)
        client.sendall(b"held")
        [acting] = control.toxics("echo")
        assert (acting.name, acting.do, acting.direction, acting.ended_at) == (
            "silence / all",
            Blackhole(),
            "to_server",
            None,
        )
        ended = control.remove("echo", "silence / all")
        assert client.recv(4) == b"held"
    assert ended.ended_at is not None
    assert ended.began_at <= ended.ended_at
    assert ended.counts.bytes_delayed == 4
    assert control.remove("echo", "silence / all") == ended
    assert control.toxic("echo", "silence / all") == ended
    control.close("echo")
    assert [one for one in control.listeners() if one.name == "echo"] == []
    with pytest.raises(ConnectionRefusedError):
        connect(state.address)


def test_a_port_that_was_asked_for_is_kept_through_a_cut(control: ProxyControl, upstream: str) -> None:
    first = control.listen("first", upstream)
    control.close("first")
    port = int(first.address.split(":")[1])
    assert control.listen("again", upstream, port=port).address == first.address
    control.add("again", "cut", Cut())
    with pytest.raises(ConnectionRefusedError):
        connect(first.address)
    with socket.socket() as thief, pytest.raises(OSError, match="in use"):
        thief.bind(("127.0.0.1", port))
    control.remove("again", "cut")
    connect(first.address).close()
    control.close("again")


def test_what_cannot_be_is_refused_in_words(control: ProxyControl, upstream: str) -> None:
    control.listen("echo", upstream)
    with pytest.raises(ProxyRefusedError, match="there is a listener 'echo' already"):
        control.listen("echo", upstream)
    with pytest.raises(UnknownToxicError, match="no listener 'eco', there are: echo"):
        control.add("eco", "t", Cut())
    with pytest.raises(UnknownToxicError, match="no toxic 't' on 'echo'"):
        control.remove("echo", "t")
    with pytest.raises(ProxyRefusedError, match="store_error needs a listener of layer s3, 'echo' is one of tcp"):
        control.add("echo", "t", StoreError())
    control.close("echo")


def test_a_page_in_a_browser_cannot_drive_it(control: ProxyControl) -> None:
    new = '{"name": "n", "upstream": "127.0.0.1:1"}'
    plain = requests.post(f"{control.endpoint}/listeners", data=new, headers={"Content-Type": "text/plain"}, timeout=9)
    assert plain.status_code == 415
    named = requests.get(f"{control.endpoint}/listeners", headers={"Host": "evil.example"}, timeout=9)
    assert named.status_code == 400


def test_it_reaches_and_listens_on_loopback_only(front: Front, upstream: str) -> None:
    front.control.listen("echo", upstream)
    away = requests.post(
        f"{front.control.endpoint}/listeners",
        data='{"name": "n", "upstream": "192.0.2.1:80"}',
        headers={"Content-Type": "application/json"},
        timeout=9,
    )
    assert away.status_code == 422
    assert "is not an address on loopback" in away.text
    sockets = psutil.Process(front.part.life.pid).net_connections("tcp")
    assert {one.laddr[0] for one in sockets if one.status == "LISTEN"} == {"127.0.0.1"}
    front.control.close("echo")
