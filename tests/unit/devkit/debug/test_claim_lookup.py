"""A claim check by its key, its record or its source event."""

import hashlib
from collections.abc import Iterator
from typing import Any, cast

import pytest
from mypy_boto3_s3 import S3Client

from devkit.debug.claim_lookup import ClaimPlace, FoundClaim, find_claim
from devkit.errors import StackError, UsageError
from devkit.observe.audit.arrivals import Arrival
from tests.unit.devkit.observe.fake_s3 import FakeS3

PAYLOAD = b'{"html": "a large page"}'
SHA256 = hashlib.sha256(PAYLOAD).hexdigest()
KEY = f"html/{SHA256[:2]}/{SHA256}"
EVENT_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
HEADERS = {
    "claim-check-bucket": b"claims",
    "claim-check-key": KEY.encode(),
    "claim-check-length": b"24",
    "claim-check-sha256": SHA256.encode(),
}


def arrival(offset: int, headers: dict[str, bytes], value: bytes = b"{}") -> Arrival:
    return Arrival("out", 0, offset, value, headers, ("source", 2, offset + 100), 0)


RECORDS = [
    arrival(0, {}, b"no JSON"),
    arrival(1, {}, b'{"meta": "strange"}'),
    arrival(2, HEADERS, b'{"meta": {"id": "%s"}}' % EVENT_ID.encode()),
    Arrival("out", 1, 2, b"{}", {}, None, 0),
]


@pytest.fixture
def store() -> FakeS3:
    store = FakeS3()
    store.put("claims", KEY, PAYLOAD)
    return store


def find(store: FakeS3, reference: str, records: list[Arrival] | None = None) -> FoundClaim:
    def read() -> Iterator[Arrival]:
        yield from RECORDS if records is None else records

    return find_claim(reference, cast(S3Client, store), ClaimPlace("claims", "/html/"), read)


@pytest.mark.parametrize("reference", [KEY, SHA256, "out/0/2", "source/2/102", EVENT_ID, EVENT_ID.upper()])
def test_each_way_leads_to_the_payload(store: FakeS3, reference: str) -> None:
    assert find(store, reference) == FoundClaim(f"claims/{KEY}", PAYLOAD, SHA256)


def test_a_hash_leads_to_a_key_that_names_a_page() -> None:
    store = FakeS3()
    store.put("claims", f"html/enwiki/7/28674/28673/{SHA256}", PAYLOAD)
    store.put("claims", f"other/enwiki/7/28674/28673/{SHA256}", b"of another job")
    assert find(store, SHA256).where == f"claims/html/enwiki/7/28674/28673/{SHA256}"


def test_a_key_needs_no_records(store: FakeS3) -> None:
    def read() -> Any:
        raise AssertionError("the topic is read")

    assert find_claim(SHA256, cast(S3Client, store), ClaimPlace("claims", "html"), read).payload == PAYLOAD


@pytest.mark.parametrize("reference", [KEY, "out/0/2"])
def test_a_damaged_payload_is_not_handed_over(store: FakeS3, reference: str) -> None:
    store.put("claims", KEY, PAYLOAD[::-1])
    with pytest.raises(StackError, match=r"it is damaged|another SHA-256"):
        find(store, reference)


def test_a_payload_of_another_length(store: FakeS3) -> None:
    store.put("claims", KEY, PAYLOAD[:-1])
    with pytest.raises(StackError, match=r"the claim check of out/0/2: .* has 23 bytes, the record says 24"):
        find(store, "out/0/2")


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        ("0" * 64, "there is no claim check claims/html/00/0000"),
        ("out/0/1", "out/0/1 is no claim check"),
        ("out/1/2", "out/1/2 is no claim check"),
        ("out/0/9", "no record of 4 in the output topic is out/0/9"),
        ("5d2f36f8-0000-4c36-9c3c-0d5a4f3c2b1a", "no record of 4"),
        ("Huge", "'Huge' names no claim check"),
        ("out/0", "'out/0' names no claim check"),
    ],
)
def test_a_reference_that_leads_nowhere_says_why(store: FakeS3, reference: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        find(store, reference)


@pytest.mark.parametrize("reference", [KEY, "out/0/2"])
def test_a_store_that_is_gone(store: FakeS3, reference: str) -> None:
    store.broken = True
    with pytest.raises(StackError, match=f"claims/{KEY} (cannot be read|could not be looked at): "):
        find(store, reference)
