from typing import Any, cast

import pytest
from botocore.exceptions import ClientError
from mypy_boto3_s3 import S3Client

from devkit.errors import StackError
from devkit.observe.audit.claim_check import ClaimError, ClaimSuppressedError, resolve_claim
from tests.unit.devkit.observe.audit.events import claim_headers
from tests.unit.devkit.observe.fake_s3 import FakeS3

NAMES = ("bucket", "key", "length", "sha256")
PAYLOAD = b'{"html": "a large page"}'


@pytest.fixture
def store() -> FakeS3:
    store = FakeS3()
    store.put("claims", "payload", PAYLOAD)
    return store


def resolve(store: FakeS3, headers: dict[str, bytes]) -> bytes:
    return resolve_claim(cast(S3Client, store), headers)


def test_a_good_claim_check_leads_to_its_payload(store: FakeS3) -> None:
    assert resolve(store, claim_headers(PAYLOAD) | {"source-topic": b"x"}) == PAYLOAD


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"key": b"elsewhere"}, "claims/elsewhere cannot be read: .*NoSuchKey"),
        ({"bucket": b"other"}, "other/payload cannot be read"),
        ({"length": b"23"}, "claims/payload has 24 bytes, the record says 23"),
        ({"length": b"many"}, "headers are incomplete"),
        ({"key": b"\xff"}, "headers are incomplete"),
        ({"sha256": b"0" * 64}, "claims/payload has another SHA-256 than the record says"),
        *(({name: None}, f"headers are incomplete.*claim-check-{name}") for name in NAMES),
    ],
)
def test_a_claim_check_that_does_not_lead_there(store: FakeS3, changes: dict[str, bytes | None], message: str) -> None:
    headers = claim_headers(PAYLOAD) | {f"claim-check-{name}": value for name, value in changes.items()}
    with pytest.raises(ClaimError, match=message):
        resolve(store, {name: value for name, value in headers.items() if value is not None})


def test_a_payload_of_the_right_length_with_other_bytes(store: FakeS3) -> None:
    store.put("claims", "payload", PAYLOAD[::-1])
    with pytest.raises(ClaimError, match="another SHA-256"):
        resolve(store, claim_headers(PAYLOAD))


def test_a_claim_check_that_the_program_has_removed(store: FakeS3) -> None:
    store.objects = {("claims", "payload.suppressed"): b'{"suppressed": "page", "by": "source/0/7"}'}
    with pytest.raises(ClaimSuppressedError, match="removed with its page, suppressed by source/0/7") as caught:
        resolve(store, claim_headers(PAYLOAD))
    assert caught.value.by == "source/0/7"


def test_a_mark_that_says_nothing_is_none(store: FakeS3) -> None:
    store.objects = {("claims", "payload.suppressed"): b"{}"}
    with pytest.raises(ClaimError, match="claims/payload cannot be read") as caught:
        resolve(store, claim_headers(PAYLOAD))
    assert not isinstance(caught.value, ClaimSuppressedError)


def test_a_store_that_is_gone(store: FakeS3) -> None:
    """That is not the program's doing: nothing is known of its claim check."""
    store.broken = True
    with pytest.raises(StackError, match=r"claim check claims/payload could not be looked at: .*127.0.0.1:1"):
        resolve(store, claim_headers(PAYLOAD))


@pytest.mark.parametrize("status", [500, 503])
def test_a_store_that_is_unhealthy(store: FakeS3, monkeypatch: pytest.MonkeyPatch, status: int) -> None:
    answer: Any = {"Error": {"Code": "SlowDown"}, "ResponseMetadata": {"HTTPStatusCode": status}}

    def get_object(**_: str) -> None:
        raise ClientError(answer, "GetObject")

    monkeypatch.setattr(store, "get_object", get_object)
    with pytest.raises(StackError, match=r"could not be looked at: .*SlowDown"):
        resolve(store, claim_headers(PAYLOAD))
