from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from mockapi.api.status import overflow, reply
from mockapi.plan import StatusAnswer
from mockapi.server.reply import Reply
from tests.unit.mockapi.faults.planned import plan


def data(reply: Reply) -> bytes:
    return b"".join(reply.body.pieces())


def answer(status: int | dict[str, Any]) -> Reply:
    planned = plan({"status": status}).status
    assert planned is not None
    return reply(planned, "abc")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (504, "upstream request timeout"),
        (503, "upstream connect error or disconnect/reset before headers. reset reason: connection termination"),
        (502, "upstream connect error or disconnect/reset before headers. reset reason: protocol error"),
    ],
)
def test_a_proxy_speaks_plainly(code: int, words: str) -> None:
    made = answer(code)
    assert (made.status, data(made).decode()) == (code, words)
    length = str(len(words)).encode()
    assert made.headers == ((b"content-length", length), (b"content-type", b"text/plain"), (b"server", b"envoy"))


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (404, {"httpReason": "Not Found"}),
        (413, {"error-keys": ["parsoid-resource-limit-exceeded"], "httpReason": "Request Entity Too Large"}),
        (500, {"message": "Error: exception of type RuntimeException", "httpReason": "Internal Server Error"}),
        (418, {"httpReason": "I'm a Teapot"}),
        (599, {"httpReason": "Unknown Error"}),
    ],
)
def test_mediawiki_speaks_json(code: int, expected: dict[str, Any]) -> None:
    made = answer(code)
    fields = orjson.loads(data(made))
    assert made.status == fields["httpCode"] == code
    assert fields.items() >= expected.items()
    assert made.header(b"content-type") == "application/json"
    assert (made.header(b"content-length") is not None) == (code == 404)


def test_an_answer_may_have_own_words_and_say_when_to_come_back() -> None:
    made = answer(429)
    assert made.header(b"retry-after") == "60"
    assert data(made).decode().endswith("\n\nrequest-id: abc\n")
    assert answer({"code": 429, "retry_after": "5s"}).header(b"retry-after") == "5"
    made = answer({"code": 503, "body": "later, naïve one", "retry_after": "2m"})
    assert data(made) == "later, naïve one".encode()
    assert made.header(b"content-length") == str(len(data(made)))
    assert made.header(b"retry-after") == "120"


def test_a_full_queue_is_told_by_the_proxy_or_by_the_gateway() -> None:
    made = overflow(503, "abc")
    assert made.status == 503
    assert data(made) == b"upstream connect error or disconnect/reset before headers. reset reason: overflow"
    assert (made.header(b"x-envoy-overloaded"), made.header(b"server")) == ("true", "envoy")
    assert made.header(b"content-length") == str(len(data(made)))
    assert overflow(429, "abc") == answer(429)


def test_retry_after_may_be_a_date() -> None:
    planned = StatusAnswer(code=429, retry_after=timedelta(seconds=90), retry_after_as="date")
    made = reply(planned, "abc", now=datetime(2026, 11, 21, 23, 59, 0, tzinfo=UTC))
    assert made.header(b"retry-after") == "Sun, 22 Nov 2026 00:00:30 GMT"
