"""One request to a real server, and what its answer says."""

import contextlib
import gzip
import pickle
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from pipeline.fetch.breaker import Answer
from pipeline.fetch.probe import limit, probe
from pipeline.fetch.route import HTML, Ask, Route
from pipeline.fetch.wiki_hosts import WikiHosts
from pipeline.jobs.content import ContentRoute
from tests.unit.pipeline.making import make_config

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)
ASK = Ask("/w/rest.php/v1/revision/5/html", "event:latest")
HANG_S = 20


class Server(ThreadingHTTPServer):
    """Answers with `status`, `fields` and `body`, when `go` is set; a body that is not `ended` goes on until then."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status, self.fields, self.body, self.ended = 200, dict[str, str](), b"", True
        self.go, self.asked, self.closed = threading.Event(), threading.Event(), threading.Event()
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
        if "Content-Length" not in self.server.fields:
            self.send_header("Content-Length", str(len(self.server.body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):  # whoever asked has gone
            self.wfile.write(self.server.body)
        if not self.server.ended:
            assert self.server.closed.wait(HANG_S)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.go.set()
    made.closed.set()
    made.shutdown()
    made.server_close()
    thread.join(HANG_S)


def ask(server: Server, route: Route | None = None, **sections: Any) -> Answer:
    answer = ask_until(server, lambda: False, route, **sections)
    assert answer is not None
    return answer


def ask_until(server: Server, stopped: Callable[[], bool], route: Route | None, **sections: Any) -> Answer | None:
    mediawiki = {"endpoint": f"http://127.0.0.1:{server.server_port}", "wikis": {"dewiki": "de.example"}}
    config = make_config(mediawiki=mediawiki, **sections)
    hosts = WikiHosts(config.mediawiki)
    return probe(config, hosts, "dewiki", replace(ASK, rev_id=5, route=route), stopped, now=lambda: NOW)


def test_it_asks_for_what_failed_as_the_worker_did(server: Server) -> None:
    ask(server)
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
def test_what_the_answer_says(server: Server, status: int, retry_after: str | None, answer: Answer) -> None:
    server.status = status
    server.fields = {"Retry-After": retry_after} if retry_after else {}
    assert ask(server) == answer


@pytest.mark.parametrize(
    "limited", [{"fetch": {"request_timeout": "50ms"}}, {"deferral": {"inline_allowance": "50ms"}}], ids=str
)
def test_no_answer_is_a_failure(server: Server, limited: dict[str, Any]) -> None:
    server.go.clear()
    assert ask(server, **limited) == Answer(failed=True, why="no answer within 0.05 s")
    server.go.set()


@pytest.mark.parametrize(
    ("request_timeout", "deadline", "inline_allowance", "limit_s"),
    [("1s", "3s", "2s", 1), ("3s", "1s", "2s", 1), ("3s", "2s", "1s", 1), ("20s", "60s", "5s", 5)],
)
def test_it_has_the_time_of_a_request(request_timeout: str, deadline: str, inline_allowance: str, limit_s: int) -> None:
    """A wiki that takes longer would be called well, and be opened again by the next batch."""
    fetch = {"request_timeout": request_timeout, "deadline": deadline}
    config = make_config(fetch=fetch, deferral={"inline_allowance": inline_allowance})
    assert limit(config).total_seconds() == limit_s


def test_a_body_that_does_not_end_is_a_failure(server: Server) -> None:
    server.fields, server.body, server.ended = {"Content-Length": "1000"}, b"<p>", False
    answer = ask(server, fetch={"request_timeout": "50ms"})
    assert answer == Answer(failed=True, why="no answer within 0.05 s")


def test_a_body_that_is_cut_off_is_a_failure(server: Server) -> None:
    server.fields, server.body = {"Content-Length": "1000"}, b"<p>"
    answer = ask(server)
    assert (answer.failed, answer.why.split(":")[0]) == (True, "ClientPayloadError")


@pytest.mark.parametrize(
    ("body", "failed", "why"),
    [
        (gzip.compress(b"<p>" * 1000, mtime=0), False, "status 200"),
        (gzip.compress(b"<p>" * 1000, mtime=0)[:-9], True, "BodyBrokenError: gzip stream was cut off"),
        (b"<p>" * 100, True, "BodyBrokenError: not gzip"),
    ],
)
def test_what_is_inside_counts_and_not_its_wrapping(server: Server, body: bytes, *, failed: bool, why: str) -> None:
    server.fields, server.body = {"Content-Encoding": "gzip"}, body
    answer = ask(server)
    assert answer.failed == failed
    assert answer.why.startswith(why)


def test_a_page_that_is_too_large_is_an_answer(server: Server) -> None:
    """The main lane does not blame the upstream for it either. It is not read on."""
    server.fields, server.body, server.ended = {"Content-Length": "1000000"}, b"x" * 100_000, False
    assert ask(server, claim_check={"max_bytes": 1000}) == Answer(failed=False, why="status 200")


def test_the_body_of_a_refusal_is_not_waited_for(server: Server) -> None:
    server.status, server.fields, server.ended = 404, {"Content-Length": "1000"}, False
    assert ask(server) == Answer(failed=False, why="status 404")


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (
            b'{"error": {"code": "internal_api_error_DBQueryError", "info": "no"}}',
            "API error internal_api_error_DBQueryError",
        ),
        (b'{"error": {"code": "ratelimited", "info": "no"}}', "API error ratelimited"),
        (b'{"error": {"code": "nosuchaction", "info": "no"}}', None),
        (b'{"query": {"badrevids": {"5": {}}}}', None),
        (b'{"query": {"pages": [{"revisions": [{"revid": 5, "slots": {"main": {"content": "x"}}}]}]}}', None),
        (b"no JSON", "status 200, and neither a query's answer nor error.code of the API"),
        (b"\xff", "status 200, and neither a query's answer nor error.code of the API"),
    ],
)
def test_an_outage_that_a_body_tells_of_is_not_over(server: Server, body: bytes, reason: str | None) -> None:
    server.body = body
    route = ContentRoute(5, unknown_is_final=False)
    expected = Answer(reason is not None, f"status 200, {reason}" if reason else "status 200")
    assert ask(server, route=route) == expected
    assert ask(server) == Answer(failed=False, why="status 200"), "nothing reads it"
    unkept = ask(server, route=route, fetch={"inline_limit": 0})
    assert unkept == Answer(failed=False, why="status 200"), "as in the main lane"


@pytest.mark.parametrize(
    ("status", "fields", "body", "failed"),
    [
        (404, {}, b'{"errorKey":"rest-nonexistent-revision"}', False),
        (404, {}, b"\xef\xbb\xbf" + b'{"errorKey":"rest-nonexistent-revision"}', False),
        (403, {}, b'{"errorKey":"rest-rate-limit-exceeded"}', True),
        (404, {}, b"<h1>Not Found</h1>", True),
        (301, {"Location": "/elsewhere"}, b"", True),
        (200, {"Content-Type": "text/html", "Content-Revision-Id": "5"}, b"<p>", False),
        (200, {"Content-Type": "text/html"}, b"<h1>Maintenance</h1>", True),
    ],
)
def test_a_proxy_ends_no_outage(
    server: Server, status: int, fields: dict[str, str], body: bytes, *, failed: bool
) -> None:
    server.status, server.fields, server.body = status, fields, body
    assert ask(server, route=HTML).failed == failed


@pytest.mark.parametrize("route", [HTML, ContentRoute(5, unknown_is_final=True)])
def test_a_worker_can_tell_its_driver_what_to_ask_and_how_to_read_it(route: Route) -> None:
    received = pickle.loads(pickle.dumps(replace(ASK, rev_id=5, route=route)))
    assert received == ASK, "whoever reads it, it is one request"
    assert received.route.path(5) == route.path(5)


def test_nobody_there_is_a_failure() -> None:
    config = make_config(mediawiki={"endpoint": "http://127.0.0.1:1", "wikis": {"dewiki": "de.example"}})
    answer = probe(config, WikiHosts(config.mediawiki), "dewiki", ASK, lambda: False)
    assert answer is not None
    assert answer.failed
    assert "Connect" in answer.why


def test_a_stop_ends_it_at_once(server: Server) -> None:
    server.go.clear()
    assert ask_until(server, server.asked.is_set, None) is None
    server.go.set()
