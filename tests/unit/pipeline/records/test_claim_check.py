import asyncio
import hashlib
import threading
from dataclasses import dataclass, field
from typing import Any, Literal

import boto3
import pytest
from botocore.exceptions import (
    ClientError,
    ConnectionClosedError,
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ReadTimeoutError,
    SSLError,
)
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.records.claim_check import Claim, ClaimStore, StoreDownError, StoreRefusedError
from pipeline.records.claim_key import PageRevision
from pipeline.records.claim_origin import ClaimOrigin
from pipeline.records.record import Position


@dataclass
class FakeS3:
    """What is used of an S3 client, and of boto3 to make one."""

    objects: dict[tuple[str, str], bytes] = field(default_factory=dict)
    types: set[str] = field(default_factory=set)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    made: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    down: Exception | None = None

    def client(self, service: str, **settings: Any) -> "FakeS3":
        self.made.append((service, settings))
        return self

    def put_object(self, **given: Any) -> None:
        if self.down:
            raise self.down
        self.objects[given["Bucket"], given["Key"]] = given["Body"]
        self.types.add(given["ContentType"])
        self.metadata[given["Key"]] = given["Metadata"]

    def head_object(self, *, Bucket: str, Key: str) -> dict[str, Any]:  # noqa: N803
        if self.down:
            raise self.down
        self.asked.append(Key)
        if (Bucket, Key) not in self.objects:
            raise answered(404, "404")
        return {"Metadata": self.metadata[Key]}


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


ABOUT = PageRevision("enwiki", 7, 20, 10)
ORIGIN = ClaimOrigin(Position("source", 0, 7), at_ms=700)


def test_the_object_says_by_which_event_it_was_stored(s3: FakeS3) -> None:
    claim = ClaimStore(ClaimCheck()).put(b"payload", ABOUT, ORIGIN)
    assert ClaimOrigin.of_metadata(s3.metadata[claim.key]) == ORIGIN
    assert s3.asked == [], "without removals there is nothing to look for"


@pytest.mark.parametrize(("offset", "at_ms", "says"), [(8, 800, 8), (6, 600, 7), (8, 600, 7)])
def test_what_a_later_event_has_stored_stays_that_event_s(s3: FakeS3, offset: int, at_ms: int, says: int) -> None:
    store = ClaimStore(ClaimCheck(suppressed="remove"))
    claim = store.put(b"payload", ABOUT, ClaimOrigin(Position("source", 0, offset), at_ms))
    assert store.put(b"payload", ABOUT, ORIGIN) == claim
    said = ClaimOrigin.of_metadata(s3.metadata[claim.key])
    assert said is not None
    assert said.position.offset == says
    assert s3.asked == [claim.key] * 2


def test_a_store_that_is_down_when_it_is_asked_is_down(s3: FakeS3) -> None:
    s3.down = no_route()
    with pytest.raises(StoreDownError):
        ClaimStore(ClaimCheck(suppressed="remove")).put(b"payload", ABOUT, ORIGIN)


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


def no_route() -> Exception:
    return EndpointConnectionError(endpoint_url="http://127.0.0.1:1")


def answered(status: int, code: str) -> Exception:
    return ClientError(
        {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": status}},  # type: ignore[typeddict-item]
        "PutObject",
    )


BROKEN_CONNECTIONS = (ConnectTimeoutError, ReadTimeoutError, ConnectionClosedError)
BUSY = [(503, "SlowDown"), (500, "InternalError"), (429, "TooManyRequests"), (400, "RequestTimeout")]
BROKEN_OFF = [(408, "Request Timeout"), (400, "IncompleteBody"), (409, "OperationAborted")]
REFUSALS = [(404, "NoSuchBucket"), (403, "AccessDenied"), (400, "EntityTooLarge")]


@pytest.mark.parametrize(
    "failure",
    [
        no_route(),
        *(
            of(endpoint_url="http://127.0.0.1:1")
            for of in (ConnectTimeoutError, ReadTimeoutError, ConnectionClosedError)
        ),
        *(answered(*answer) for answer in BUSY + BROKEN_OFF),
    ],
    ids=str,
)
def test_a_store_that_does_not_answer_now_is_down(s3: FakeS3, failure: Exception) -> None:
    s3.down = failure
    with pytest.raises(StoreDownError):
        ClaimStore(ClaimCheck()).put(b"payload")


@pytest.mark.parametrize(
    "failure",
    [
        *(answered(*answer) for answer in REFUSALS),
        NoCredentialsError(),
        SSLError(endpoint_url="https://127.0.0.1:1", error="self-signed certificate"),
    ],
    ids=str,
)
def test_what_waiting_cannot_mend_is_refused_with_place_and_remedy(s3: FakeS3, failure: Exception) -> None:
    s3.down = failure
    config = ClaimCheck(bucket="claims", endpoint="http://127.0.0.1:1")
    with pytest.raises(StoreRefusedError, match=r"bucket claims at http://127\.0\.0\.1:1 .* of 7 bytes") as refused:
        asyncio.run(ClaimStore(config).keep(b"payload"))
    assert "claim_check.bucket has to be there" in str(refused.value.hint)


@dataclass
class Outage:
    """A store that is back after `pauses_s` of waiting; time passes by sleeping alone."""

    s3: FakeS3
    lasts_s: float
    now: float = 0.0
    pauses_s: list[float] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.s3.down = no_route()

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.pauses_s.append(seconds)
        self.now += seconds
        if self.now >= self.lasts_s:
            self.s3.down = None

    def store(self) -> ClaimStore:
        return ClaimStore(ClaimCheck(bucket="claims"), clock=self.clock, sleep=self.sleep)


def test_a_record_waits_for_a_store_that_is_down_and_says_so(s3: FakeS3, lines: list[dict[str, Any]]) -> None:
    outage = Outage(s3, lasts_s=100)
    claim = asyncio.run(outage.store().keep(b"payload"))
    assert s3.objects == {("claims", claim.key): b"payload"}
    assert outage.pauses_s[:6] == [0.5, 1, 2, 4, 8, 10]
    assert max(outage.pauses_s) == 10
    first, *reminders, last = lines
    assert (first["event"], first["seconds"]) == ("claim_store_down", 0)
    assert "bucket claims" in first["store"]
    assert "Could not connect" in first["reason"]
    assert [line["event"] for line in reminders] == ["claim_store_down"]
    assert (last["event"], last["seconds"]) == ("claim_store_back", outage.now)


def test_nothing_is_lost_however_many_wait_and_one_asks_for_all(s3: FakeS3, lines: list[dict[str, Any]]) -> None:
    outage = Outage(s3, lasts_s=20)
    payloads = [bytes([number]) for number in range(50)]

    async def keep_all() -> list[Claim]:
        store = outage.store()
        return await asyncio.gather(*(store.keep(payload) for payload in payloads))

    claims = asyncio.run(keep_all())
    assert [s3.objects["claims", claim.key] for claim in claims] == payloads
    assert outage.pauses_s == [0.5, 1, 2, 4, 8, 10]
    assert [line["event"] for line in lines] == ["claim_store_down", "claim_store_back"]


def test_a_refusal_after_an_outage_is_no_reason_to_wait_on(s3: FakeS3, lines: list[dict[str, Any]]) -> None:
    outage = Outage(s3, lasts_s=1)

    async def sleep(seconds: float) -> None:
        await outage.sleep(seconds)
        s3.down = answered(404, "NoSuchBucket")

    store = ClaimStore(ClaimCheck(), clock=outage.clock, sleep=sleep)
    with pytest.raises(StoreRefusedError):
        asyncio.run(store.keep(b"payload"))


@dataclass
class SlowS3(FakeS3):
    """Stores when it is told to."""

    begun: threading.Event = field(default_factory=threading.Event)
    go: threading.Event = field(default_factory=threading.Event)

    def put_object(self, **given: Any) -> None:
        self.begun.set()
        assert self.go.wait(20)
        super().put_object(**given)


@pytest.mark.parametrize("suppressed", ["remove", "keep"])
def test_what_is_given_up_is_not_stored_later(
    monkeypatch: pytest.MonkeyPatch, suppressed: Literal["remove", "keep"]
) -> None:
    """That may be the removal of the same payload."""
    s3 = SlowS3()
    monkeypatch.setattr(boto3, "client", s3.client)
    store = ClaimStore(ClaimCheck(suppressed=suppressed))

    async def give_up() -> None:
        keeping = asyncio.create_task(store.keep(b"payload"))
        assert await asyncio.to_thread(s3.begun.wait, 20)
        keeping.cancel()
        for _ in range(10):
            await asyncio.sleep(0)
        assert keeping.done() == (suppressed == "keep")
        s3.go.set()
        with pytest.raises(asyncio.CancelledError):
            await keeping
        assert bool(s3.objects) or suppressed == "keep"

    asyncio.run(give_up())
