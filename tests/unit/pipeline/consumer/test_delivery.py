"""A record of either topic is read as the job wrote it, and a claim check leads nowhere but to the job's own bucket."""

import hashlib
import io
from dataclasses import replace
from typing import Any

import orjson
import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from hypothesis import given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.consumer.claims import Claims, Suppressed
from pipeline.consumer.delivery import UnreadableOutputError, read, read_error
from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim
from pipeline.records.claim_key import PageRevision, key_of, mark_of
from pipeline.records.record import Headers, Position

SOURCE = Position("eqiad.page_change", 3, 12)
CLAIM = Claim("claims", f"job/ab/{'ab' * 32}", 9, "ab" * 32)
EVENT_ID = "5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a"
ID = ("source-event-id", EVENT_ID.encode())
ODD_IDS = [
    ((*SOURCE.headers(), ("source-event-id", b"")), "source-event-id is '', no UUID"),
    ((*SOURCE.headers(), ("source-event-id", b"x" * 1000)), "source-event-id is 'x{60}', no UUID"),
    ((*SOURCE.headers(), ("source-event-id", b"\xff")), "can't decode"),
]
ERROR = orjson.dumps({"emitter_id": "a-job", "message": "no such revision"})
VALUE = orjson.dumps({"meta": {"id": "an-id"}, "page": {"page_id": 1}})
PAYLOAD = b'{"meta": {"id": "a"}}'
DIGEST = hashlib.sha256(PAYLOAD).hexdigest()
STORED_CLAIM = Claim("claim-checks", key_of("job", DIGEST), len(PAYLOAD), DIGEST)


def test_it_knows_its_id_and_its_source() -> None:
    delivery = read("out/0/4", VALUE, SOURCE.headers())
    assert (delivery.place, delivery.id, delivery.source, delivery.value) == ("out/0/4", "an-id", SOURCE, VALUE)
    assert (delivery.kind, delivery.claim) == ("output", None)


@pytest.mark.parametrize(("headers", "event"), [((ID,), EVENT_ID), ((), str(SOURCE))])
def test_records_of_both_topics_are_known_by_the_id_of_their_event(headers: Headers, event: str) -> None:
    """By its position where it has none."""
    output = read("out/0/4", VALUE, SOURCE.headers() + headers)
    error = read_error("error/0/4", ERROR, SOURCE.headers() + headers, job="a-job")
    assert error
    assert output.event == error.event == event


def test_of_an_error_event_its_source_is_known() -> None:
    delivery = read_error("error/0/4", ERROR, SOURCE.headers(), job="a-job")
    assert delivery
    assert (delivery.kind, delivery.id, delivery.source) == ("error", str(SOURCE), SOURCE)
    other = read_error("error/0/5", ERROR + b" ", SOURCE.headers(), job="a-job")
    assert other
    assert delivery.fingerprint != other.fingerprint


@pytest.mark.parametrize("headers", [SOURCE.headers(), ()])
def test_an_error_event_of_another_job_is_not_looked_at(headers: Headers) -> None:
    """Which need not even name its source as this job does."""
    assert read_error("error/0/4", ERROR, headers, job="another-job") is None


@pytest.mark.parametrize(
    ("value", "what"),
    [
        (None, "it has no value"),
        (b"not JSON", "invalid literal"),
        (b"[1]", "list indices"),
        (b"{}", "emitter_id is missing"),
        (b'{"emitter_id": null}', "emitter_id is None"),
    ],
)
def test_an_error_event_that_is_of_no_job_is_named(value: bytes | None, what: str) -> None:
    with pytest.raises(UnreadableOutputError, match=f"record e/0/4 is no error event of this job: {what}"):
        read_error("e/0/4", value, SOURCE.headers(), job="a-job")


@pytest.mark.parametrize(
    ("headers", "what"),
    [
        ((), "source-topic is missing"),
        ((*SOURCE.headers()[:2], ("source-offset", b"x")), "invalid literal"),
        ((("source-topic", b"\xff"), *SOURCE.headers()[1:]), "can't decode"),
        *ODD_IDS,
    ],
)
def test_an_error_event_of_another_program_is_named(headers: Headers, what: str) -> None:
    with pytest.raises(UnreadableOutputError, match=f"record e/0/4 is no error event of this job: .*{what}") as caught:
        read_error("e/0/4", ERROR, headers, job="a-job")
    assert "sink.error_topic" in str(caught.value.hint)


def test_a_claim_check_is_read_from_the_headers_it_was_written_to() -> None:
    assert read("out/0/4", VALUE, SOURCE.headers() + CLAIM.headers()).claim == CLAIM


@pytest.mark.parametrize(
    ("value", "headers", "what"),
    [
        (None, SOURCE.headers(), "it has no value"),
        (b"{", SOURCE.headers(), "unexpected end"),
        (b"[1]", SOURCE.headers(), "list indices"),
        (b'{"meta": {}}', SOURCE.headers(), "id is missing"),
        (b'{"meta": {"id": 7}}', SOURCE.headers(), "meta.id is 7"),
        (VALUE, (), "source-topic is missing"),
        (VALUE, (*SOURCE.headers()[:2], ("source-offset", b"x")), "invalid literal"),
        (VALUE, (*SOURCE.headers(), *CLAIM.headers()[1:]), "claim-check-bucket is missing"),
        (VALUE, (("source-topic", b"\xff"), *SOURCE.headers()[1:]), "can't decode"),
        *((VALUE, *odd) for odd in ODD_IDS),
    ],
)
def test_what_the_job_did_not_write_is_named(value: bytes | None, headers: Headers, what: str) -> None:
    with pytest.raises(UnreadableOutputError, match=f"record out/0/4 is no output of this job: .*{what}") as caught:
        read("out/0/4", value, headers)
    assert "sink.topic" in str(caught.value.hint)


HEADERS = st.lists(st.tuples(st.text(max_size=3), st.binary(max_size=3)), max_size=3).map(tuple)


@given(st.binary(max_size=4), HEADERS, st.binary(max_size=4), HEADERS)
def test_only_what_is_the_same_byte_for_byte_has_the_same_fingerprint(
    one: bytes, one_headers: Headers, other: bytes, other_headers: Headers
) -> None:
    def fingerprint(extra: bytes, headers: Headers) -> bytes:
        value = orjson.dumps({"meta": {"id": "a"}, "extra": extra.hex()})
        # In front, as the job's own would hide others of their name.
        return read("out/0/4", value, headers + SOURCE.headers()).fingerprint

    same = (one, one_headers) == (other, other_headers)
    assert (fingerprint(one, one_headers) == fingerprint(other, other_headers)) is same


class Store:
    """What is asked of S3's client."""

    def __init__(self, content: bytes | Exception, mark: bytes | None = None) -> None:
        self.content = content
        self.mark = mark
        self.asked: list[dict[str, str]] = []

    def get_object(self, **names: str) -> dict[str, Any]:
        self.asked.append(names)
        if self.mark is not None and names["Key"] == mark_of(STORED_CLAIM.key):
            return {"Body": io.BytesIO(self.mark)}
        if isinstance(self.content, Exception):
            raise self.content
        return {"Body": io.BytesIO(self.content)}


def claims(store: Store, **settings: Any) -> Claims:
    made = Claims(ClaimCheck(**settings))
    made.__dict__["_client"] = store
    return made


@pytest.mark.parametrize("about", [None, PageRevision("enwiki", 7, 28674), PageRevision("../x", 7, 9, 8)])
@pytest.mark.parametrize("prefix", ["job", "", "/a/b/"])
def test_a_payload_is_returned_when_it_is_the_right_one(prefix: str, about: PageRevision | None) -> None:
    """Also one that was written under another prefix than today's, or before keys named a page."""
    store = Store(PAYLOAD)
    claim = replace(STORED_CLAIM, key=key_of(prefix, DIGEST, about))
    assert claims(store).resolve(claim, "out/0/1") == PAYLOAD
    assert store.asked == [{"Bucket": STORED_CLAIM.bucket, "Key": claim.key}]


@pytest.mark.parametrize(
    "content", [b"", PAYLOAD[:-1], PAYLOAD + b" ", PAYLOAD.upper(), bytes(len(PAYLOAD) * 1000)], ids=len
)
def test_another_payload_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableOutputError, match=r"of record out/0/1 is not its payload") as caught:
        claims(Store(content)).resolve(STORED_CLAIM, "out/0/1")
    assert "replay" in str(caught.value.hint)


@pytest.mark.parametrize(
    "claim",
    [
        replace(STORED_CLAIM, bucket="somebody-elses"),
        replace(STORED_CLAIM, key="job/secret"),
        replace(STORED_CLAIM, key=f"x{DIGEST[:2]}/{DIGEST}"),
        replace(STORED_CLAIM, key=f"job/enwiki/7/secret/0/{DIGEST}"),
        replace(STORED_CLAIM, key=f"job/enwiki/7/9/{DIGEST}"),
        replace(STORED_CLAIM, sha256="0" * 64),
    ],
)
def test_a_claim_that_leads_elsewhere_is_not_followed(claim: Claim) -> None:
    store = Store(PAYLOAD)
    with pytest.raises(UnreadableOutputError, match="is not where this job puts one"):
        claims(store).resolve(claim, "out/0/1")
    assert store.asked == []


@pytest.mark.parametrize(
    "error",
    [ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject"), EndpointConnectionError(endpoint_url="http://x")],
    ids=["gone", "away"],
)
def test_a_store_that_does_not_give_it_is_an_error_with_its_place(error: Exception) -> None:
    with pytest.raises(
        PipelineError, match=rf"claim check {STORED_CLAIM.bucket}/{STORED_CLAIM.key} of record out/0/1 cannot"
    ) as got:
        claims(Store(error)).resolve(STORED_CLAIM, "out/0/1")
    assert "lifecycle" in str(got.value.hint)


MISSING = ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")


@pytest.mark.parametrize("scope", ["page", "revision"])
def test_a_payload_that_was_removed_is_suppressed_and_no_error(scope: str) -> None:
    store = Store(MISSING, b'{"suppressed": "%s", "by": "source/0/7"}' % scope.encode())
    assert claims(store).resolve(STORED_CLAIM, "out/0/1") == Suppressed(suppressed=scope, by="source/0/7")  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", [b"", b"{}", b'{"suppressed": "all", "by": "source/0/7"}', b"[" * 5000])
def test_a_mark_that_does_not_say_why_is_an_error_with_its_place(mark: bytes) -> None:
    with pytest.raises(
        UnreadableOutputError, match=rf"of record out/0/1 is gone, and {mark_of(STORED_CLAIM.key)} in its"
    ):
        claims(Store(MISSING, mark)).resolve(STORED_CLAIM, "out/0/1")


def test_a_store_that_does_not_answer_says_nothing_of_a_mark() -> None:
    store = Store(EndpointConnectionError(endpoint_url="http://x"), b'{"suppressed": "page", "by": "source/0/7"}')
    with pytest.raises(PipelineError, match="cannot be read"):
        claims(store).resolve(STORED_CLAIM, "out/0/1")
