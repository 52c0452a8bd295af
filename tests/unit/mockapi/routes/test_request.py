from typing import Any

import pytest

from mockapi.routes.request import Request, read_request


def request(path: str = "/w/rest.php/v1/x", **headers: str) -> Request:
    scope: dict[str, Any] = {
        "type": "http",
        "method": "GET",
        "path": path,
        "headers": [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 4711),
    }
    return read_request(scope)


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip", True),
        ("gzip, deflate, br", True),
        ("br;q=1.0, gzip;q=0.5", True),
        ("gzip; q=1", True),
        ("gzip;q=0", False),
        ("gzip;q=0.000", False),
        ("identity", False),
        ("*", False),
        ("", False),
    ],
)
def test_accept_encoding(header: str, accepted: bool) -> None:
    assert request(accept_encoding=header).accepts_gzip is accepted


@pytest.mark.parametrize(
    ("headers", "language"),
    [({}, None), ({"accept_language": "de-AT, en;q=0.5"}, "de-at"), ({"accept_language": "*"}, "und")],
)
def test_only_the_first_language_counts(headers: dict[str, str], language: str | None) -> None:
    assert request(**headers).language == language


@pytest.mark.parametrize(
    ("path", "relative"),
    [
        ("/w/rest.php/v1/x", "/v1/x"),
        ("/w/rest.php/", "/"),
        ("/w/rest.php", ""),
        ("/w/rest.phpx", None),
        ("/w/api.php", None),
        ("/", None),
    ],
)
def test_the_path_below_the_rest_root(path: str, relative: str | None) -> None:
    assert request(path).relative == relative


def test_what_is_not_sent_is_none() -> None:
    bare = request()
    assert (bare.request_id, bare.host, bare.accepts_gzip) == (None, "", False)
    assert request(x_request_id="abc", host="en.wikipedia.org").request_id == "abc"
