"""Requests to servers that do what they should, and to others."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pipeline.apply.sparql_target import SparqlTarget, StoreRequestRefusedError, WaitEndedError
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


def test_a_stop_ends_the_wait(serve: Callable[..., Answers]) -> None:
    target = target_of(serve((503, "")).url)
    with pytest.raises(WaitEndedError):
        target.update("INSERT DATA {}")
    assert target.is_down


@pytest.mark.parametrize("answer", ["", "<sparql/>", "[]", "{}", '{"results": {"bindings": [1]}}'])
def test_an_answer_that_is_no_solutions_is_refused(serve: Callable[..., Answers], answer: str) -> None:
    with pytest.raises(StoreRequestRefusedError, match="did not answer a query with solutions in JSON"):
        target_of(serve((200, answer)).url).select("SELECT ?a {}")
