"""How a triple store is started and asked, with a server of values; the real one is in the integration tests."""

import shutil
import sysconfig
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qs

import pytest

from devkit.errors import PartError, SetupError, StackError
from devkit.stack.parts.part import LEVERS
from devkit.stack.parts.triple_store import StoreLogin, TripleStore, oxigraph_binary, start_triple_store
from devkit.stack.ports import free_port
from tests.unit.devkit.stack.fakes import FakeGuardian


class Server:
    """Answers each request with the same, and remembers what it was asked."""

    def __init__(self) -> None:
        self.status, self.body = 200, b'{"head": {}, "boolean": true}'
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        self.logins: list[str | None] = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                outer.asked.append((self.path, parse_qs(form)))
                outer.logins.append(self.headers["Authorization"])
                self.send_response(outer.status)
                self.send_header("Content-Length", str(len(outer.body)))
                self.end_headers()
                self.wfile.write(outer.body)

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base's name
                """Nothing."""

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.store = TripleStore.at("127.0.0.1:1", f"127.0.0.1:{self.http.server_port}")


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = Thread(target=made.http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.http.shutdown()
    thread.join()
    made.http.server_close()


@pytest.fixture
def binary(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setattr(sysconfig, "get_path", lambda _name: str(tmp_path / "bin"))
    (tmp_path / "bin").mkdir()
    (path := tmp_path / "bin" / "oxigraph").touch()
    return path


@pytest.mark.parametrize(("login", "sent"), [(None, None), (StoreLogin("me", "päs:s"), "Basic bWU6cMOkczpz")])
def test_a_login_is_sent_with_queries_and_updates(server: Server, login: StoreLogin | None, sent: str | None) -> None:
    server.store.login = login
    server.store.is_empty()
    server.store.clear()
    assert server.logins == [sent, sent]


def test_it_listens_on_loopback_and_has_a_data_directory(binary: Path, tmp_path: Path) -> None:
    guardian, port = FakeGuardian(tmp_path), free_port()
    store, part = start_triple_store(guardian.real(), tmp_path, port=port, lead=lambda part, _: f"{part}.proxy:1")
    data = tmp_path / "triple-store" / "data"
    argv = [str(binary), "serve", "--location", str(data), "--bind", f"127.0.0.1:{port}"]
    assert guardian.started == [("triple-store", argv, {})]
    assert data.is_dir()
    assert (store.query, store.direct_update) == (
        "http://triple-store.proxy:1/query",
        f"http://127.0.0.1:{port}/update",
    )
    assert part.address == "http://triple-store.proxy:1"
    assert part.levers == set(LEVERS)


def test_one_that_has_ended_is_not_waited_for(binary: Path, tmp_path: Path) -> None:
    guardian = FakeGuardian(tmp_path)
    _, part = start_triple_store(guardian.real(), tmp_path)
    guardian.processes[0].exit_code = 1
    with pytest.raises(StackError, match=r"^triple-store ended with exit code 1"):
        part.await_ready()


def test_a_missing_server_is_named(binary: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary.unlink()
    monkeypatch.setattr(shutil, "which", lambda _name: None)
    with pytest.raises(SetupError, match=r"^there is no triple store: .*/oxigraph is missing") as caught:
        oxigraph_binary()
    assert "install the wheel `oxigraph`" in (caught.value.hint or "")
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/bin/{name}")
    assert oxigraph_binary() == Path("/usr/bin/oxigraph")


def test_the_kit_asks_past_the_proxy(server: Server) -> None:
    assert server.store.answers()
    server.store.copied = frozenset({"a"})
    server.store.clear()
    assert server.store.copied is None
    assert server.asked == [("/query", {"query": ["ASK {}"]}), ("/update", {"update": ["CLEAR ALL"]})]


@pytest.mark.parametrize(
    ("status", "body", "message"),
    [
        (400, b"no such word", "the triple store answered 400 at .*/query: no such word"),
        (200, b"<html>", "answered no JSON: '<html>'"),
        (200, b"[]", "answered no results of a query"),
    ],
)
def test_what_is_no_answer_is_quoted(server: Server, status: int, body: bytes, message: str) -> None:
    server.status, server.body = status, body
    with pytest.raises(PartError, match=message) as caught:
        server.store.select("SELECT")
    assert caught.value.part == "triple-store"


def test_one_that_is_silent_does_not_answer() -> None:
    store = TripleStore.at("127.0.0.1:1", f"127.0.0.1:{free_port()}")
    assert not store.answers()
    with pytest.raises(PartError, match=r"did not answer .*: connection refused"):
        store.is_empty()
