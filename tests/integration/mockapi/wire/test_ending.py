"""Where and how the connection breaks: reset, close, truncate, malformed chunk, garbage."""

import gzip
from typing import Any

import pytest

from tests.integration.mockapi.wire.raw import PAGE, Heard, heard

ROOMS = ("mockapi/faults", "mockapi/journal", "mockapi/server")
NAMES = {"reset": "RST", "close": "FIN"}


@pytest.fixture
def page(mock: Any) -> bytes:
    return bytes(mock.ask(PAGE).body)


def asked(mock: Any, do: dict[str, Any], **request: str) -> tuple[Heard, dict[str, Any]]:
    """What a client hears and what the journal says of it."""
    mock.ask("/__mock/journal", method="DELETE")
    mock.rules({"name": "fault", "do": do})
    return heard(mock.port, **request), mock.ended()


@pytest.mark.parametrize("name", NAMES)
def test_before_headers_nothing_comes(mock: Any, name: str) -> None:
    wire, entry = asked(mock, {name: "before headers", "latency": "50ms"})
    assert (wire.data, wire.end) == (b"", NAMES[name])
    assert (entry["status"], entry["content_length"], entry["wire_bytes"], entry["completed"]) == (None, None, 0, False)
    assert entry["duration_s"] >= 0.05, "latency comes before the end"


@pytest.mark.parametrize("name", NAMES)
def test_in_headers_a_part_of_them_comes(mock: Any, name: str, page: bytes) -> None:
    whole = heard(mock.port, Connection="close")
    wire, entry = asked(mock, {name: {"at": "in headers", "after": 120}})
    assert (len(wire.data), wire.end) == (120, NAMES[name])
    assert wire.data[:20] == whole.data[:20] == b"HTTP/1.1 200 OK\r\ndat"
    assert (entry["status"], entry["content_length"], entry["wire_bytes"], entry["completed"]) == (200, None, 0, False)
    assert entry["real_bytes"] == len(page)


def test_within_the_status_line_there_is_no_status(mock: Any) -> None:
    wire, entry = asked(mock, {"reset": {"at": "in headers", "after": 5}})
    assert (wire.data, entry["status"]) == (b"HTTP/", None)


@pytest.mark.parametrize("name", NAMES)
def test_before_the_body_the_headers_come(mock: Any, name: str, page: bytes) -> None:
    wire, entry = asked(mock, {name: "before body"})
    assert wire.data.endswith(b"\r\n\r\n")
    assert (wire.headers["content-length"], wire.body, wire.end) == (str(len(page)), b"", NAMES[name])
    assert (entry["status"], entry["content_length"], entry["wire_bytes"]) == (200, len(page), 0)
    assert not entry["completed"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("after", "share"), [(1_000, None), ("25%", 0.25), ("0%", 0.0), ("100%", 1.0)])
def test_in_the_body_so_much_of_it_comes(mock: Any, name: str, page: bytes, after: object, share: float | None) -> None:
    wire, entry = asked(mock, {name: {"at": "in body", "after": after}})
    count = 1_000 if share is None else int(share * len(page))
    assert (wire.body, wire.end) == (page[:count], NAMES[name])
    assert wire.headers["content-length"] == str(len(page))
    assert (entry["wire_bytes"], entry["completed"]) == (count, count == len(page))


def test_a_large_body_is_cut_to_the_byte_before_the_reset(mock: Any) -> None:
    """More than any buffer on the way holds: what was sent must have arrived when the RST comes."""
    mock_rules = {"body": {"size": "40MiB"}, "reset": {"at": "in body", "after": 30_000_001}}
    wire, entry = asked(mock, mock_rules)
    assert (len(wire.body), wire.end) == (30_000_001, "RST")
    assert (entry["wire_bytes"], entry["real_bytes"]) == (30_000_001, 40 << 20)


@pytest.mark.parametrize(("end", "seen"), [("fin", "FIN"), ("reset", "RST")])
def test_truncated_below_the_promised_length(mock: Any, page: bytes, end: str, seen: str) -> None:
    wire, entry = asked(mock, {"truncate": {"after": "50%", "end": end}})
    assert (wire.body, wire.end) == (page[: len(page) // 2], seen)
    assert wire.headers["content-length"] == str(len(page))
    assert (entry["status"], entry["wire_bytes"], entry["completed"]) == (200, len(page) // 2, False)


def test_truncated_without_the_last_chunk(mock: Any, page: bytes) -> None:
    wire, entry = asked(mock, {"truncate": {"after": 100, "length": "chunked"}})
    assert "content-length" not in wire.headers
    assert wire.headers["transfer-encoding"] == "chunked"
    assert wire.body == b"64\r\n" + page[:100] + b"\r\n"
    assert (entry["content_length"], entry["wire_bytes"], entry["completed"]) == (None, 100, False)


def test_what_is_truncated_is_the_encoded_body(mock: Any, page: bytes) -> None:
    packed = mock.page(28674, Accept_Encoding="gzip").body
    wire, _ = asked(mock, {"truncate": "50%"}, Accept_Encoding="gzip")
    assert wire.body == packed[: len(packed) // 2]
    with pytest.raises(EOFError):
        gzip.decompress(wire.body)


@pytest.mark.parametrize(
    ("how", "tail"),
    [
        ("not hex", b"g5\r\nabcde\r\n0\r\n\r\n"),
        ("negative", b"-5\r\nabcde\r\n0\r\n\r\n"),
        ("huge", b"fffffffffffffffff\r\nabcde\r\n0\r\n\r\n"),
        ("short", b"ff\r\nabcde"),
        ("no line end", b"5\r\nabcde5\r\nabcde\r\n0\r\n\r\n"),
    ],
)
def test_a_malformed_chunk(mock: Any, page: bytes, how: str, tail: bytes) -> None:
    wire, entry = asked(mock, {"malformed_chunk": {"how": how, "after": 16}})
    assert wire.headers["transfer-encoding"] == "chunked"
    assert (wire.body, wire.end) == (b"10\r\n" + page[:16] + b"\r\n" + tail, "FIN")
    assert (entry["status"], entry["wire_bytes"], entry["completed"]) == (200, 16, False)


def test_garbage_in_place_of_the_answer(mock: Any) -> None:
    wire, entry = asked(mock, {"garbage": {"bytes": 100}}, X_Request_Id="a")
    assert (len(wire.data), wire.end) == (100, "FIN")
    assert not wire.data.startswith(b"HTTP")
    assert (entry["status"], entry["completed"]) == (None, False)
    mock.ask("/__mock/state", method="PUT", body={"seed": 1})
    again, _ = asked(mock, {"garbage": {"bytes": 100}}, X_Request_Id="a")
    assert again.data == wire.data


def test_garbage_in_place_of_the_body(mock: Any, page: bytes) -> None:
    wire, entry = asked(mock, {"garbage": {"at": "after headers", "bytes": 100}})
    assert (wire.headers["content-length"], len(wire.body), wire.end) == (str(len(page)), 100, "FIN")
    assert (entry["status"], entry["wire_bytes"]) == (200, 0)


@pytest.mark.parametrize("do", [{"reset": {"at": "in body"}}, {"malformed_chunk": {}}, {"truncate": "50%"}])
def test_a_head_request_ends_after_its_headers(mock: Any, do: dict[str, Any]) -> None:
    wire, entry = asked(mock, do, method="HEAD")
    assert wire.data.endswith(b"\r\n\r\n")
    assert (entry["status"], entry["wire_bytes"], entry["real_bytes"]) == (200, 0, 0)


def test_an_ending_also_meets_an_error(mock: Any) -> None:
    """A 403 of MediaWiki has no Content-Length: it is chunked, and the last chunk is missing."""
    wire, entry = asked(mock, {"status": 403, "close": {"at": "in body", "after": 10}})
    assert wire.body.startswith(b"a\r\n")
    assert wire.body.count(b"\r\n") == 2
    assert (entry["status"], entry["wire_bytes"], entry["content_length"]) == (403, 10, None)
