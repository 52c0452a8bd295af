import hashlib
import threading
from dataclasses import dataclass, field
from typing import Any

import boto3
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config import ClaimCheck
from pipeline.records.claim_check import Claim, ClaimStore


@dataclass
class FakeS3:
    """What is used of an S3 client, and of boto3 to make one."""

    objects: dict[tuple[str, str], bytes] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)
    made: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    down: Exception | None = None

    def client(self, service: str, **settings: Any) -> "FakeS3":
        self.made.append((service, settings))
        return self

    def put_object(self, *, Bucket: str, Key: str, Body: bytes, ContentType: str) -> None:  # noqa: N803 - boto3's names
        if self.down:
            raise self.down
        self.objects[Bucket, Key] = Body
        self.types.add(ContentType)


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> FakeS3:
    fake = FakeS3()
    monkeypatch.setattr(boto3, "client", fake.client)
    return fake


def test_the_claim_describes_what_was_stored(s3: FakeS3) -> None:
    claim = ClaimStore(ClaimCheck(bucket="claims", prefix="jobs/html")).put(b"payload")
    sha256 = hashlib.sha256(b"payload").hexdigest()
    assert claim == Claim("claims", f"jobs/html/{sha256[:2]}/{sha256}", 7, sha256)
    assert s3.objects == {(claim.bucket, claim.key): b"payload"}
    assert s3.types == {"application/json"}


def test_the_reference_stands_in_headers() -> None:
    assert Claim("b", "k", 7, "abc").headers() == (
        ("claim-check-bucket", b"b"),
        ("claim-check-key", b"k"),
        ("claim-check-length", b"7"),
        ("claim-check-sha256", b"abc"),
        ("claim-check-content-type", b"application/json"),
    )


@pytest.mark.parametrize(("prefix", "start"), [("", ""), ("/", ""), ("a", "a/"), ("/a/b/", "a/b/")])
def test_a_key_has_no_empty_parts(s3: FakeS3, prefix: str, start: str) -> None:
    claim = ClaimStore(ClaimCheck(prefix=prefix)).put(b"")
    assert claim.key == f"{start}{claim.sha256[:2]}/{claim.sha256}"


@given(st.lists(st.binary(max_size=9), min_size=1))
def test_a_replay_writes_the_same_objects_and_nothing_else(payloads: list[bytes]) -> None:
    fake = FakeS3()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "client", fake.client)
        store = ClaimStore(ClaimCheck())
        first = [store.put(payload) for payload in payloads]
        after_first = dict(fake.objects)
        assert [store.put(payload) for payload in payloads] == first
    assert fake.objects == after_first
    assert sorted(fake.objects.values()) == sorted(set(payloads))


def test_the_client_is_made_once_when_it_is_first_needed(s3: FakeS3) -> None:
    store = ClaimStore(ClaimCheck(endpoint="http://127.0.0.1:1", region="eu-central-1"))
    assert not s3.made
    store.put(b"1")
    store.put(b"2")
    ((service, settings),) = s3.made
    assert (service, settings["endpoint_url"], settings["region_name"]) == ("s3", "http://127.0.0.1:1", "eu-central-1")
    assert settings["config"].s3 == {"addressing_style": "path"}


def test_two_threads_do_not_make_a_client_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """boto3 may not make two clients at once; while the first is being made, a second thread asks for one."""
    fake, store = FakeS3(), ClaimStore(ClaimCheck())
    inside = threading.Semaphore(0)
    second = threading.Thread(target=store.put, args=(b"second",))

    def make(service: str, **settings: Any) -> FakeS3:
        inside.release()
        if not fake.made:
            fake.client(service, **settings)
            second.start()
            inside.acquire()
            # The second thread can only get here if nothing holds it back; that it does not, only a deadline shows.
            assert not inside.acquire(timeout=0.2), "two clients are made at once"
        return fake.client(service, **settings)

    monkeypatch.setattr(boto3, "client", make)
    store.put(b"first")
    second.join(10)
    assert sorted(fake.objects.values()) == [b"first", b"second"]


def test_a_store_that_is_down_is_not_passed_over(s3: FakeS3) -> None:
    s3.down = ConnectionError("refused")
    with pytest.raises(ConnectionError, match="refused"):
        ClaimStore(ClaimCheck()).put(b"payload")
