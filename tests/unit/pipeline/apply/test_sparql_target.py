"""Requests to servers that do what they should, and to others."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from pipeline.apply.sparql_target import SparqlTarget, StoreRequestRefusedError, WaitEndedError
from pipeline.errors import RefusedError
from tests.unit.pipeline.apply.fake_parts import settings_of


def never(_seconds: float) -> bool:
    return False


def target_of(url: str, pause: Callable[[float], bool] = never, **settings: Any) -> SparqlTarget:
    ticks = iter(range(0, 1_000_000, 25))
    return SparqlTarget(settings_of(endpoint=url, timeout="5s", **settings), pause, lambda: float(next(ticks)))


@dataclass
class Answers:
    """What a server says, one after the other; the last one for ever."""

    statuses: list[tuple[int, str]]
    requests: list[tuple[str, dict[str, str], str]] = field(default_factory=list)
    url: str = ""
    retry_after: str | None = None


@pytest.fixture
def serve() -> Iterator[Callable[..., Answers]]:
    servers: list[ThreadingHTTPServer] = []

    def start(*statuses: tuple[int, str]) -> Answers:
        answers = Answers(list(statuses))

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                answers.requests.append((self.path, dict(self.headers), body))
                status, text = answers.statuses[min(len(answers.requests), len(answers.statuses)) - 1]
                self.send_response(status)
                self.send_header("Content-Length", str(len(text.encode())))
                self.send_header("Location", "/elsewhere")
                if answers.retry_after is not None:
                    self.send_header("Retry-After", answers.retry_after)
                self.end_headers()
                self.wfile.write(text.encode())

            def log_message(self, *_: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        answers.url = f"http://127.0.0.1:{server.server_port}/store/update"
        return answers

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_request_is_what_the_protocol_says(serve: Callable[..., Answers]) -> None:
    answers = serve((204, ""), (200, '{"results": {"bindings": [{"a": {"type": "literal", "value": "é"}}, {}]}}'))
    target = target_of(answers.url)
    target.update("INSERT DATA { <a:b> <a:b> 'é' }")
    assert target.select("SELECT ?a {}") == [{"a": "é"}, {}]
    (path, headers, body), (query_path, query_headers, query) = answers.requests
    assert (path, headers["Content-Type"]) == ("/store/update", "application/sparql-update; charset=utf-8")
    assert body == "INSERT DATA { <a:b> <a:b> 'é' }"
    assert (query_path, query_headers["Content-Type"]) == ("/store/query", "application/sparql-query; charset=utf-8")
    assert (query_headers["Accept"], query) == ("application/sparql-results+json", "SELECT ?a {}")


@pytest.mark.parametrize("status", [302, 400, 401, 403, 404, 413])
def test_what_the_store_refuses_ends_the_process(serve: Callable[..., Answers], status: int) -> None:
    answers = serve((status, "no such\nfunction"))
    target = target_of(answers.url)
    text = "INSERT DATA { <a:b> }" + "x" * 1_000
    with pytest.raises(StoreRequestRefusedError) as caught:
        target.update(text)
    message = str(caught.value)
    assert f"{answers.url} does not take a request of 1021 characters that begins 'INSERT DATA {{ <a:b> }}x" in message
    assert f"HTTP {status}: no such\nfunction" in message
    assert len(message) < 500
    assert (caught.value.exit_code, len(answers.requests)) == (2, 1)


BASIC = "Basic bWU6cMOkczpz"
"""Of the user `me` and the password `päs:s`."""


@pytest.mark.parametrize(
    ("user", "settings", "update", "query"),
    [
        ("me:p%C3%A4s:s@", {}, BASIC, BASIC),
        ("me:p%C3%A4s:s@", {"query_endpoint": "{url}/sparql"}, BASIC, None),
        ("", {"query_endpoint": "http://me:p%C3%A4s:s@{host}/sparql"}, None, BASIC),
        ("", {"username": "me", "password": "päs:s"}, BASIC, BASIC),
        ("", {"username": "me", "password_file": "{file}", "query_endpoint": "{url}/sparql"}, BASIC, BASIC),
        ("", {"header_file": "{file}"}, "Bearer a.b", "Bearer a.b"),
        ("", {}, None, None),
    ],
)
def test_a_login_is_sent(
    serve: Callable[..., Answers],
    tmp_path: Path,
    user: str,
    settings: dict[str, str],
    update: str | None,
    query: str | None,
) -> None:
    answers = serve((200, '{"results": {"bindings": []}}'))
    file = tmp_path / "login"
    file.write_text("päs:s\n" if "password_file" in settings else "Authorization: Bearer a.b\n")
    host = answers.url.split("/")[2]
    filled = {key: value.format(url=answers.url, host=host, file=file) for key, value in settings.items()}
    target = target_of(answers.url.replace("://", f"://{user}"), **filled)
    target.update("INSERT DATA {}")
    target.select("SELECT ?a {}")
    assert [headers.get("Authorization") for _, headers, _ in answers.requests] == [update, query]
    assert {headers["Host"] for _, headers, _ in answers.requests} == {host}


def test_a_login_that_is_renewed_is_taken_up(serve: Callable[..., Answers], tmp_path: Path) -> None:
    answers, file = serve((204, "")), tmp_path / "token"
    target = target_of(answers.url, header_file=str(file))
    for token in ("one", "two"):
        file.write_text(f"X-Token: {token}")
        target.update("INSERT DATA {}")
    assert [headers["X-Token"] for _, headers, _ in answers.requests] == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "settings", "why"),
    [
        (b"\n", {"username": "me", "password_file": "{file}"}, "apply.password_file .* is empty"),
        (b"\xff", {"username": "me", "password_file": "{file}"}, "apply.password_file .* cannot be read: it is no te"),
        (b"Bearer t0ken", {"header_file": "{file}"}, "apply.header_file .* does not hold one header"),
        (b"A: t0ken\r\nB: c", {"header_file": "{file}"}, "apply.header_file .* does not hold one header"),
        (None, {"header_file": "{file}"}, "apply.header_file .* cannot be read: No such file"),
    ],
)
def test_a_login_file_that_cannot_be_used(
    tmp_path: Path, content: bytes | None, settings: dict[str, str], why: str
) -> None:
    file = tmp_path / "login"
    if content is not None:
        file.write_bytes(content)
    filled = {key: value.format(file=file) for key, value in settings.items()}
    with pytest.raises(RefusedError, match=why) as caught:
        target_of("http://127.0.0.1:1/update", **filled).update("INSERT DATA {}")
    assert "t0ken" not in str(caught.value)


@pytest.mark.parametrize(
    ("status", "settings", "hint"),
    [
        (401, {}, "the store asks for a login: write apply.username and apply.password_file, or apply.header_file"),
        (401, {"username": "me", "password": "p"}, "the store does not accept the login: look at apply.{key}, "),
        (403, {}, "the store does not grant {protocol} to a client without a login"),
        (403, {"username": "me", "password": "p"}, "the store does not grant {protocol} to this login: grant it there"),
        (404, {}, "apply.{key} has to be the store's URL for {protocol}; its log may say more"),
    ],
)
def test_a_refused_login_has_a_hint(
    serve: Callable[..., Answers], status: int, settings: dict[str, str], hint: str
) -> None:
    target = target_of(serve((status, "")).url, **settings)
    for key, protocol, send in (
        ("endpoint", "SPARQL 1.1 Update", target.update),
        ("query_endpoint", "SPARQL 1.1 queries", target.select),
    ):
        with pytest.raises(StoreRequestRefusedError) as caught:
            send("x")
        assert str(caught.value.hint).startswith(hint.format(key=key, protocol=protocol))


def test_an_outage_is_logged_with_its_end(serve: Callable[..., Answers], capsys: pytest.CaptureFixture[str]) -> None:
    """The clock is asked once at each failure, 25 s apart."""
    answers = serve(*[(503, "starting")] * 3, (429, ""), *[(500, "")] * 2, (200, ""))
    target_of(answers.url, lambda _: True).update("INSERT DATA {}")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["event"], line["seconds"]) for line in lines] == [
        ("triple_store_down", 0),
        ("triple_store_down", 75),
        ("triple_store_back", 150),
    ]
    assert lines[0]["reason"] == "HTTP 503: starting"
    assert {line["endpoint"] for line in lines} == {answers.url}
    assert len({body for _, _, body in answers.requests}) == 1


@pytest.mark.parametrize("status", [429, 503])
@pytest.mark.parametrize(
    ("retry_after", "pauses"),
    [
        (None, [0.5, 1]),
        ("7", [7, 7]),
        ("0", [0.5, 1]),
        ("86400", [300, 300]),
        ("Wed, 21 Oct 2037 07:28:00 GMT", [300, 300]),
        ("soon", [0.5, 1]),
    ],
)
def test_a_store_that_says_when_is_asked_then(
    serve: Callable[..., Answers], status: int, retry_after: str | None, pauses: list[float]
) -> None:
    answers = serve((status, ""), (status, ""), (204, ""))
    answers.retry_after = retry_after
    waited: list[float] = []

    def pause(seconds: float) -> bool:
        waited.append(seconds)
        return True

    target_of(answers.url, pause).update("INSERT DATA {}")
    assert waited == pauses


def test_a_stop_ends_the_wait(serve: Callable[..., Answers]) -> None:
    target = target_of(serve((503, "")).url)
    with pytest.raises(WaitEndedError):
        target.update("INSERT DATA {}")
    assert target.is_down


@pytest.mark.parametrize("answer", ["", "<sparql/>", "[]", "{}", '{"results": {"bindings": [1]}}'])
def test_an_answer_that_is_no_solutions_is_refused(serve: Callable[..., Answers], answer: str) -> None:
    with pytest.raises(StoreRequestRefusedError, match="did not answer a query with solutions in JSON"):
        target_of(serve((200, answer)).url).select("SELECT ?a {}")
