"""One request to a real server, and what its answer says."""

import threading
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pipeline.config import PipelineConfig
from pipeline.fetch.breaker import Answer, Ask
from pipeline.fetch.probe import probe

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)
ASK = Ask("/w/rest.php/v1/revision/5/html", "event:latest")
HANG_S = 20


class Server(ThreadingHTTPServer):
    """Answers with `status` and `fields`, when `go` is set."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.fields = 200, dict[str, str]()
        self.go, self.asked = threading.Event(), threading.Event()
        self.go.set()
        self.requests: list[tuple[str, Mapping[str, str]]] = []


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.requests.append((self.path, dict(self.headers)))
        self.server.asked.set()
        assert self.server.go.wait(HANG_S)
        self.send_response(self.server.status)
        for name, value in self.server.fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.go.set()
    made.shutdown()
    made.server_close()
    thread.join(HANG_S)


MakeConfig = Callable[..., PipelineConfig]


def ask(
    make_config: MakeConfig, server: Server, stopped: Callable[[], bool] = lambda: False, **fetch: Any
) -> Answer | None:
    mediawiki = {"endpoint": f"http://127.0.0.1:{server.server_port}", "wikis": {"dewiki": "de.example"}}
    return probe(make_config(mediawiki=mediawiki, fetch=fetch), "dewiki", ASK, stopped, now=lambda: NOW)


def test_it_asks_for_what_failed_as_the_worker_did(make_config: MakeConfig, server: Server) -> None:
    ask(make_config, server)
    ((path, headers),) = server.requests
    assert path == ASK.path
    assert (headers["Host"], headers["X-Request-Id"]) == ("de.example", "event:latest")


@pytest.mark.parametrize(
    ("status", "retry_after", "answer"),
    [
        (200, None, Answer(failed=False, why="status 200")),
        (404, None, Answer(failed=False, why="status 404")),
        (302, None, Answer(failed=False, why="status 302")),
        (503, None, Answer(failed=True, why="status 503")),
        (504, "7", Answer(failed=True, why="status 504", retry_after_s=7.0)),
        (429, "Mon, 02 Mar 2026 09:01:00 GMT", Answer(failed=True, why="status 429", retry_after_s=60.0)),
        (200, "5", Answer(failed=True, why="status 200", retry_after_s=5.0)),
    ],
)
def test_what_the_answer_says(
    make_config: MakeConfig, server: Server, status: int, retry_after: str | None, answer: Answer
) -> None:
    server.status = status
    server.fields = {"Retry-After": retry_after} if retry_after else {}
    assert ask(make_config, server) == answer


def test_no_answer_is_a_failure(make_config: MakeConfig, server: Server) -> None:
    server.go.clear()
    assert ask(make_config, server, request_timeout="50ms") == Answer(failed=True, why="no answer within 0.05 s")
    server.go.set()


def test_nobody_there_is_a_failure(make_config: MakeConfig) -> None:
    config = make_config(mediawiki={"endpoint": "http://127.0.0.1:1", "wikis": {"dewiki": "de.example"}})
    answer = probe(config, "dewiki", ASK, lambda: False)
    assert answer is not None
    assert answer.failed
    assert "Connect" in answer.why


def test_a_stop_ends_it_at_once(make_config: MakeConfig, server: Server) -> None:
    server.go.clear()
    assert ask(make_config, server, server.asked.is_set) is None
    server.go.set()
