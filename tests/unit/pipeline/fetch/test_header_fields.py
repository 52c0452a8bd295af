"""Header fields in every form that HTTP allows, by themselves and on the wire."""

import gzip
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict, CIMultiDictProxy

from pipeline.fetch.header_fields import content_coding, elements, media_type, retry_after_s

NOW = datetime(2026, 3, 2, 9, 0, 0, tzinfo=UTC)


def headers(name: str, *lines: str) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict([(name, line) for line in lines]))


SEVEN_S = [
    *("Mon, 02 Mar 2026 09:00:07 GMT", "Monday, 02-Mar-26 09:00:07 GMT", "Mon Mar  2 09:00:07 2026"),
    *("mon, 02 mar 2026 09:00:07 gmt", '"Mon, 02 Mar 2026 09:00:07 GMT"', "Mon, 02 Mar 2026 09:00:07 -0000"),
    *("Mon, 02 Mar 2026 10:00:07 +0100", "7,"),
]
LONG_AGO = ("Mon, 02 Mar 2020 09:00:00 GMT", "Monday, 02-Mar-20 09:00:00 GMT")


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ((), None),
        (("0",), 0.0),
        *(((line,), 120.0) for line in ("120", ' "120" ', "7, 120")),
        (("7", "120"), 120.0),
        (("soon", "7"), 7.0),
        *(((line,), 7.0) for line in SEVEN_S),
        *(((line,), 0.0) for line in LONG_AGO),
        (("7", "Mon, 02 Mar 2026 09:01:00 GMT"), 60.0),
        *(((line,), None) for line in ("", ",", "1.5", "-5")),
    ],
)
def test_retry_after_in_all_its_forms(lines: tuple[str, ...], seconds: float | None) -> None:
    assert retry_after_s(headers("retry-AFTER", *lines), lambda: NOW) == seconds


@given(st.text(max_size=60) | st.from_regex(r"[A-Z][a-z]{2}, \d+ [A-Z][a-z]{2} \d+ \d+:\d+:\d+ ([+-]\d+|GMT|)"))
def test_no_retry_after_raises(value: str) -> None:
    seconds = retry_after_s(headers("Retry-After", value), lambda: NOW)
    assert seconds is None or seconds >= 0


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text/html", "text/html"),
        ("Text/HTML;charset=utf-8", "text/html"),
        (' text/html ; charset="UTF-8" ; profile="https://w.example/HTML/2.8.0"', "text/html"),
        ("text/html, text/html; charset=utf-8", "text/html"),
        ("application/json", "application/json"),
        ("", ""),
    ],
)
def test_media_type_has_no_parameters(value: str, expected: str) -> None:
    assert media_type(value) == expected


@pytest.mark.parametrize(
    ("lines", "coding"),
    [
        ((), "identity"),
        (("",), "identity"),
        (("Identity",), "identity"),
        (("GZIP",), "gzip"),
        (("identity, gzip",), "gzip"),
        (("gzip ,",), "gzip"),
        (("identity", "gzip"), "gzip"),
        (("x-gzip",), "x-gzip"),
        (("gzip, gzip",), "gzip, gzip"),
    ],
)
def test_content_coding_is_what_has_to_be_decoded(lines: tuple[str, ...], coding: str) -> None:
    assert content_coding(headers("Content-Encoding", *lines)) == coding


def test_elements_of_all_lines() -> None:
    assert elements(headers("X", '5, "6" ,', "7"), "x") == ["5", "6", "7"]


PAGE = b"<p>"
HEAD = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
HTML = b"Content-Type: text/html\r\n"


@pytest.mark.parametrize(
    ("fields", "body"),
    [
        (b'content-type:TEXT/html;charset="UTF-8"\r\nCONTENT-REVISION-ID: 5', PAGE),
        (HTML + b'Content-Revision-Id: "5"', PAGE),
        (HTML + b"Content-Revision-Id: 5, 5", PAGE),
        (HTML + b"Content-Revision-Id: 5\r\nContent-Revision-Id: 5", PAGE),
        (HTML + b"Content-Revision-Id:  5\r\nContent-Encoding:", PAGE),
        (HTML + b"Content-Revision-Id: 5\r\nContent-Encoding: identity, GZip", gzip.compress(PAGE, mtime=0)),
    ],
)
def test_the_page_is_read_whatever_the_form_of_its_headers(fetching_bytes: Any, fields: bytes, body: bytes) -> None:
    answer = HEAD + b"Content-Length: %d\r\n%b\r\n\r\n%b" % (len(body), fields, body)
    assert fetching_bytes(answer, fetch={"total_requests": 1})[0].html.text == "<p>"


def test_two_revisions_in_the_header_are_not_the_page(fetching_bytes: Any) -> None:
    fields = b"Content-Length: 3\r\nContent-Type: text/html\r\nContent-Revision-Id: 5, 6\r\n\r\n<p>"
    failure = fetching_bytes(HEAD + fields, fetch={"total_requests": 1})[0].failure
    assert "not MediaWiki's page: revision 5, 6" in failure.message
