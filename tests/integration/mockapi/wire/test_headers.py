"""Headers that lie about the body, and bodies that are not what they say."""

import gzip
import zlib
from typing import Any

import brotli
import pytest
import zstandard

from tests.integration.mockapi.wire.raw import PAGE, Connection, heard

ROOMS = ("mockapi/faults", "mockapi/server")


@pytest.fixture
def page(mock: Any) -> bytes:
    return bytes(mock.ask(PAGE).body)


def rule(mock: Any, **do: Any) -> None:
    mock.rules({"name": "fault", "do": do})


@pytest.mark.parametrize("fault", [{"off_by": 10}, {"off_by": -10}, "negative"], ids=str)
def test_a_length_that_is_wrong(mock: Any, page: bytes, fault: Any) -> None:
    rule(mock, content_length=fault)
    wire = heard(mock.port)
    claimed = -1 if fault == "negative" else len(page) + fault["off_by"]
    assert (wire.headers["content-length"], wire.body, wire.end) == (str(claimed), page, "FIN")
    entry = mock.ended()
    assert (entry["content_length"], entry["wire_bytes"], entry["completed"]) == (claimed, len(page), True)


def test_the_length_of_the_gzip_with_the_plain_body(mock: Any, page: bytes) -> None:
    packed = mock.page(28674, Accept_Encoding="gzip")
    rule(mock, content_length="compressed")
    wire = heard(mock.port, Accept_Encoding="gzip")
    assert wire.headers["content-length"] == str(len(packed.body)) == packed["content-length"]
    assert (wire.body, "content-encoding" in wire.headers) == (page, False)
    lengths = {"content_length": len(packed.body), "wire_bytes": len(page), "real_bytes": len(page)}
    assert mock.ended().items() >= lengths.items()


def test_the_length_of_the_document_with_the_gzip(mock: Any, page: bytes) -> None:
    rule(mock, content_length="decoded")
    wire = heard(mock.port, Accept_Encoding="gzip")
    assert (wire.headers["content-length"], wire.headers["content-encoding"]) == (str(len(page)), "gzip")
    assert gzip.decompress(wire.body) == page


def test_no_length_is_chunks_and_the_connection_goes_on(mock: Any, page: bytes) -> None:
    rule(mock, content_length="absent")
    answer = mock.ask(PAGE)
    assert (answer["content-length"], answer["transfer-encoding"], answer.body) == (None, "chunked", page)
    assert mock.ended()["completed"]


@pytest.mark.parametrize(("says", "header"), [("gzip", "gzip"), ("br", "br"), ("identity", None)])
def test_another_coding_than_that_of_the_bytes(mock: Any, page: bytes, says: str, header: str | None) -> None:
    accepts = {"Accept_Encoding": "gzip"} if says == "identity" else {}
    rule(mock, content_encoding=says)
    answer = mock.page(28674, **accepts)
    assert answer["content-encoding"] == header
    assert (gzip.decompress(answer.body) if accepts else answer.body) == page


@pytest.mark.parametrize(("says", "parameter"), [("iso-8859-1", "charset=iso-8859-1; "), ("none", "")])
def test_another_charset(mock: Any, page: bytes, says: str, parameter: str) -> None:
    rule(mock, charset=says)
    answer = mock.ask(PAGE)
    assert answer["content-type"].startswith(f"text/html; {parameter}profile=")
    assert answer.body == page
    page.decode()


def test_bytes_that_are_no_utf8(mock: Any) -> None:
    mock.rules(
        {"name": "exact", "do": {"body": {"size": "1MiB"}}},
        {"name": "fault", "do": {"invalid_utf8": {"bytes": 3, "at": 1_000}}},
    )
    answer = mock.page(28674, Accept_Encoding="gzip")
    assert (len(answer.body), answer["content-length"]) == (1 << 20, str(1 << 20))
    assert answer.body[1_000:1_003] == b"\xff\xff\xff"
    assert answer.body.count(b"\xff") == 3
    with pytest.raises(UnicodeDecodeError):
        answer.body.decode()


@pytest.mark.parametrize("coding", ["gzip", "deflate", "br", "zstd"])
def test_a_coding_that_a_rule_names(mock: Any, page: bytes, coding: str) -> None:
    unpack: Any = {
        "gzip": gzip.decompress,
        "deflate": zlib.decompress,
        "br": brotli.decompress,
        "zstd": lambda data: zstandard.ZstdDecompressor().decompressobj().decompress(data),
    }[coding]
    rule(mock, body={"encoding": coding})
    plain, accepted = mock.page(28674), mock.page(28674, Accept_Encoding=coding)
    assert (plain["content-encoding"], plain.body) == (None, page)
    assert (accepted["content-encoding"], unpack(accepted.body)) == (coding, page)
    assert accepted["content-length"] == str(len(accepted.body))
    rule(mock, body={"encoding": coding, "force": True})
    assert mock.page(28674).body == accepted.body


def test_a_bomb(mock: Any) -> None:
    rule(mock, body={"bomb": "100MiB", "encoding": "gzip", "force": True})
    answer = mock.page(28674)
    assert len(answer.body) < 200_000
    entry = mock.ended()
    assert (entry["wire_bytes"], entry["real_bytes"]) == (len(answer.body), 100 << 20)


@pytest.mark.parametrize("size", [0, 1, 300])
def test_a_document_of_few_bytes(mock: Any, size: int) -> None:
    rule(mock, body={"size": size})
    assert len(mock.ask(PAGE).body) == size


@pytest.mark.parametrize("announce", [True, False])
def test_a_connection_carries_so_many_answers(mock: Any, announce: bool) -> None:
    rule(mock, keep_alive={"requests": 3, "announce": announce})
    with Connection(mock.port) as connection:
        answers = []
        for _ in range(3):
            connection.ask()
            answers.append(connection.answer())
        assert connection.rest().data == b""
    closes = [b"connection: close" in answer for answer in answers]
    assert closes == [False, False, announce]
    mock.until("all are in the journal", lambda: len(mock.journal("?rule=fault")) == 3)
    assert all(entry["completed"] for entry in mock.journal("?rule=fault"))
