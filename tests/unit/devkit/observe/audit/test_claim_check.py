"""Claim checks that hold, and those that the program removed as a later event of their page asks."""

from dataclasses import replace
from typing import Any, cast

import orjson
import pytest
from botocore.exceptions import ClientError
from mypy_boto3_s3 import S3Client

from devkit.errors import StackError
from devkit.observe.audit.claim_check import ClaimError, ClaimSuppressedError, may_suppress, resolve_claim
from devkit.observe.audit.source_event import SourceEvent
from tests.unit.devkit.observe.audit.audited import audit
from tests.unit.devkit.observe.audit.events import arrival, claim_headers, source_event, without_bodies
from tests.unit.devkit.observe.fake_s3 import FakeS3

NAMES = ("bucket", "key", "length", "sha256")
PAYLOAD = b'{"html": "a large page"}'
EDIT = source_event(5)
HIDDEN = {"is_comment_visible": False}


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


def changed(event: SourceEvent, **changes: Any) -> SourceEvent:
    return replace(event, value=orjson.dumps(orjson.loads(event.value) | changes))


DELETE = changed(source_event(6), page_change_kind="delete")


def hiding(revision: int, offset: int = 6) -> SourceEvent:
    return changed(source_event(offset), revision={"rev_id": revision} | HIDDEN)


@pytest.mark.parametrize(
    ("later", "may"),
    [
        (DELETE, True),
        (hiding(20), True),
        (hiding(10), False),
        (source_event(6), False),
        (changed(source_event(4), page_change_kind="delete"), False),
        (changed(source_event(6, page=2), page_change_kind="delete"), False),
        (changed(source_event(6, partition=1), page_change_kind="delete"), False),
        (replace(source_event(6), value=b"no JSON"), False),
    ],
)
def test_what_may_suppress_an_edit(later: SourceEvent, may: bool) -> None:
    by = "/".join(map(str, later.position))
    assert may_suppress([EDIT, later], by, EDIT) == may
    assert not may_suppress([EDIT], by, EDIT), "an event that was never published"


def test_a_hidden_parent_suppresses_its_child() -> None:
    child = changed(EDIT, revision={"rev_id": 20, "rev_parent_id": 10})
    assert may_suppress([child, hiding(10)], "page_change/0/6", child)


@pytest.mark.parametrize(("later", "is_right"), [(DELETE, True), (source_event(6), False)])
def test_the_audit_names_what_was_removed_for_no_reason(later: SourceEvent, is_right: bool) -> None:
    def removed(_headers: dict[str, bytes]) -> bytes:
        raise ClaimSuppressedError("claims/payload was removed", "page_change/0/6")

    left = arrival(EDIT, without_bodies(EDIT), headers=claim_headers(b"payload"))
    figures = audit([EDIT, later], left, committed={("page_change", 0): 6}, resolve=removed)
    assert (figures.outputs, figures.mismatched, figures.claim_checks) == (1, not is_right, 0)
    assert ("no later event that deletes or hides it" in str(figures.examples)) is not is_right
