"""A claim check is worth what its hash says, and leads nowhere but to the job's own bucket."""

import hashlib
import io
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from pipeline.config.pipeline_config import ClaimCheck
from pipeline.consumer.claims import Claims, Suppressed
from pipeline.consumer.delivery import UnreadableOutputError
from pipeline.errors import PipelineError
from pipeline.records.claim_check import Claim
from pipeline.records.claim_key import PageRevision, key_of, mark_of

PAYLOAD = b'{"meta": {"id": "a"}}'
DIGEST = hashlib.sha256(PAYLOAD).hexdigest()
CLAIM = Claim("claim-checks", key_of("job", DIGEST), len(PAYLOAD), DIGEST)


class Store:
    """What is asked of S3's client."""

    def __init__(self, content: bytes | Exception, mark: bytes | None = None) -> None:
        self.content = content
        self.mark = mark
        self.asked: list[dict[str, str]] = []

    def get_object(self, **names: str) -> dict[str, Any]:
        self.asked.append(names)
        if self.mark is not None and names["Key"] == mark_of(CLAIM.key):
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
    claim = replace(CLAIM, key=key_of(prefix, DIGEST, about))
    assert claims(store).resolve(claim, "out/0/1") == PAYLOAD
    assert store.asked == [{"Bucket": CLAIM.bucket, "Key": claim.key}]


@pytest.mark.parametrize(
    "content", [b"", PAYLOAD[:-1], PAYLOAD + b" ", PAYLOAD.upper(), bytes(len(PAYLOAD) * 1000)], ids=len
)
def test_another_payload_is_refused(content: bytes) -> None:
    with pytest.raises(UnreadableOutputError, match=r"of record out/0/1 is not its payload") as caught:
        claims(Store(content)).resolve(CLAIM, "out/0/1")
    assert "replay" in str(caught.value.hint)


@pytest.mark.parametrize(
    "claim",
    [
        replace(CLAIM, bucket="somebody-elses"),
        replace(CLAIM, key="job/secret"),
        replace(CLAIM, key=f"x{DIGEST[:2]}/{DIGEST}"),
        replace(CLAIM, key=f"job/enwiki/7/secret/0/{DIGEST}"),
        replace(CLAIM, key=f"job/enwiki/7/9/{DIGEST}"),
        replace(CLAIM, sha256="0" * 64),
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
    with pytest.raises(PipelineError, match=rf"claim check {CLAIM.bucket}/{CLAIM.key} of record out/0/1 cannot") as got:
        claims(Store(error)).resolve(CLAIM, "out/0/1")
    assert "lifecycle" in str(got.value.hint)


MISSING = ClientError({"Error": {"Code": "NoSuchKey"}}, "GetObject")


@pytest.mark.parametrize("scope", ["page", "revision"])
def test_a_payload_that_was_removed_is_suppressed_and_no_error(scope: str) -> None:
    store = Store(MISSING, b'{"suppressed": "%s", "by": "source/0/7"}' % scope.encode())
    assert claims(store).resolve(CLAIM, "out/0/1") == Suppressed(suppressed=scope, by="source/0/7")  # type: ignore[arg-type]


@pytest.mark.parametrize("mark", [b"", b"{}", b'{"suppressed": "all", "by": "source/0/7"}', b"[" * 5000])
def test_a_mark_that_does_not_say_why_is_an_error_with_its_place(mark: bytes) -> None:
    with pytest.raises(UnreadableOutputError, match=rf"of record out/0/1 is gone, and {mark_of(CLAIM.key)} in its"):
        claims(Store(MISSING, mark)).resolve(CLAIM, "out/0/1")


def test_a_store_that_does_not_answer_says_nothing_of_a_mark() -> None:
    store = Store(EndpointConnectionError(endpoint_url="http://x"), b'{"suppressed": "page", "by": "source/0/7"}')
    with pytest.raises(PipelineError, match="cannot be read"):
        claims(store).resolve(CLAIM, "out/0/1")
