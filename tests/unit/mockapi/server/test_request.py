import asyncio
from collections.abc import MutableMapping
from typing import Any

import pytest

from mockapi.server.request import MOST_BODY_BYTES, BodyTooLarge, Request, has_body, read_body, read_head


def request(
    path: str = "/w/rest.php/v1/x", raw_path: bytes | None = None, method: str = "GET", **headers: str
) -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": raw_path,
        "query_string": b"a=1&b=%20",
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 4711),
    }
    return read_head(scope)


def body_of(*messages: MutableMapping[str, Any]) -> bytes | None:
    waiting = list(messages)

    async def receive() -> MutableMapping[str, Any]:
        return waiting.pop(0)

    return asyncio.run(read_body(receive))


@pytest.mark.parametrize(
    ("accepted", "headers"),
    [
        (True, ["gzip", "gzip, deflate, br", "br;q=1.0, gzip;q=0.5", "x-gzip", "gzip;q=0", "gzip; q=0.0"]),
        (False, ["gzip;q=0.0", "GZIP", "identity", "*", ""]),
    ],
)
def test_of_weights_of_gzip_only_those_with_a_fraction_count(accepted: bool, headers: list[str]) -> None:
    assert {header: request(accept_encoding=header).accepts("gzip") for header in headers} == dict.fromkeys(
        headers, accepted
    )


def test_each_coding_is_asked_for_by_its_name() -> None:
    asked = request(accept_encoding="zstd, br;q=0, deflate; q=0.5")
    named = ("zstd", "deflate", "br", "gzip", "std")
    assert [asked.accepts(coding) for coding in named] == [True, True, False, False, False]


@pytest.mark.parametrize(
    ("headers", "language"),
    [({}, None), ({"accept_language": "de-AT, en;q=0.5"}, "de-AT"), ({"accept_language": "*"}, "und")],
)
def test_only_the_first_language_counts(headers: dict[str, str], language: str | None) -> None:
    assert request(**headers).language == language


def test_what_is_not_sent_is_none() -> None:
    bare = request()
    assert (bare.request_id, bare.host, bare.accepts("gzip")) == (None, "", False)
    assert request(x_request_id="abc", host="en.wikipedia.org").request_id == "abc"


def test_the_path_is_there_decoded_and_as_sent() -> None:
    asked = request("/w/A/B", b"/w/A%2FB")
    assert (asked.path, asked.raw_path, asked.query) == ("/w/A/B", "/w/A%2FB", "a=1&b=%20")


def test_only_methods_that_write_have_a_body() -> None:
    methods = ("GET", "HEAD", "OPTIONS", "POST", "PUT")
    assert [method for method in methods if has_body(request(method=method))] == ["POST", "PUT"]


def test_a_body_is_read_to_its_end() -> None:
    first = {"type": "http.request", "body": b"ab", "more_body": True}
    assert body_of(first, {"type": "http.request", "body": b"c"}) == b"abc"
    assert body_of(first, {"type": "http.disconnect"}) is None


def test_a_body_without_end_is_refused() -> None:
    piece = {"type": "http.request", "body": b"x" * (MOST_BODY_BYTES // 2 + 1), "more_body": True}
    with pytest.raises(BodyTooLarge):
        body_of(piece, piece)
