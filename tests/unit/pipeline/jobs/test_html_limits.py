"""What fits into a record of html-enrichment, and what an error event has of the event that failed."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pipeline.fetch.client import FetchedText, FetchFailedError
from pipeline.jobs.enrichment import FailedFetchError
from pipeline.jobs.message import SourceMessage
from pipeline.records.error_event import Failure
from pipeline.records.output import HtmlContent
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import error_validator, page_change_validator
from tests.unit.pipeline.jobs.conftest import bench, failed
from tests.unit.pipeline.making import make_event

LATEST, PARENT = 7 * 4096 + 2, 7 * 4096 + 1
HTML = "<p>ä</p>\n" * 3000
BOTH = {LATEST: HTML, PARENT: HTML.replace("<p>", "<b>")}
CLAIM_HEADERS = ["bucket", "key", "length", "sha256", "content-type"]
LATEST, PARENT = 7 * 4096 + 2, 7 * 4096 + 1
FULL = {"payload": "full_event"}
PAGE = "<p>latest</p>" * 100_000
REFUSED = "content_refused_by_upstream"


def size_of(record: Record) -> int:
    return serialized_size(record.key, record.value, record.headers)


def decoded_bytes(output: dict[str, Any]) -> int:
    return HtmlContent(
        output["revision"]["content_slots"]["main"]["content_body"], PARENT, output["html_diff"]["body"]
    ).decoded_bytes()


def is_claim_check(record: Record) -> bool:
    return any(name.startswith("claim-check-") for name, _ in record.headers)


def test_a_record_of_exactly_the_limit_is_sent_and_one_byte_more_is_not() -> None:
    size = size_of(bench(BOTH, sink={"max.request.size": "1GiB"}).output(make_event())[0])
    exact, under = (bench(BOTH, sink={"max.request.size": limit}) for limit in (size, size - 1))
    assert size_of(exact.output(make_event())[0]) == size
    assert not exact.claims.stored
    assert is_claim_check(under.output(make_event())[0])
    assert len(under.claims.stored) == 1


def test_the_key_counts_towards_the_limit() -> None:
    size = size_of(bench(BOTH, sink={"max.request.size": "1GiB"}).output(make_event(), key=b"k" * 40)[0])
    made = bench(BOTH, sink={"max.request.size": size})
    assert not is_claim_check(made.output(make_event(), key=b"k" * 40)[0])
    assert is_claim_check(made.output(make_event(), key=b"k" * 41)[0])


def test_a_claim_check_has_everything_but_the_bodies() -> None:
    whole, _ = bench(BOTH, sink={"max.request.size": "1GiB"}).output(make_event())
    made = bench(BOTH, sink={"max.request.size": 4096})
    record, output = made.output(make_event())
    page_change_validator().validate(output)
    assert "content_body" not in output["revision"]["content_slots"]["main"]
    assert made.claims.stored == [whole.value], "the payload is the value the record would have had"
    headers = dict(record.headers)
    assert list(headers) == [name for name, _ in whole.headers] + [f"claim-check-{name}" for name in CLAIM_HEADERS]
    assert headers["claim-check-length"] == str(len(whole.value)).encode()
    assert record.key == whole.key
    assert size_of(record) <= 4096
    assert output["meta"] == orjson.loads(whole.value)["meta"]


def test_content_of_exactly_the_limit_is_sent_and_one_byte_more_is_not() -> None:
    size = decoded_bytes(bench(BOTH).output(make_event())[1])
    assert not is_claim_check(bench(BOTH, content_limit={"max_bytes": size}).output(make_event())[0])
    assert is_claim_check(bench(BOTH, content_limit={"max_bytes": size - 1}).output(make_event())[0])


@pytest.mark.parametrize(
    ("kind", "measure", "declared", "over"),
    [
        ("edit", "decoded", None, True),
        ("edit", "decoded", 10, True),
        ("edit", "content_length", None, False),
        ("edit", "content_length", 999, False),
        ("edit", "content_length", 1000, False),
        ("edit", "content_length", 1001, True),
        ("create", "decoded", 1001, True),
        ("create", "content_length", 1001, True),
    ],
)
def test_the_incidents_measure_believes_the_header(kind: str, measure: str, declared: int | None, over: bool) -> None:
    answers = {LATEST: FetchedText(HTML, declared), PARENT: FetchedText("<p>", 10**9)}
    made = bench(answers, content_limit={"max_bytes": 1000, "measure": measure})
    record, _ = made.output(make_event(kind))
    assert is_claim_check(record) == over == bool(made.claims.stored)


@pytest.mark.parametrize(("limit", "claimed"), [({}, False), ({"content_limit": {"max_bytes": 1000}}, True)])
def test_with_policy_none_a_record_goes_to_the_producer_whatever_its_size(limit: dict[str, Any], claimed: bool) -> None:
    """The content limit still holds."""
    made = bench(BOTH, sink={"max.request.size": 500}, record_limit={"policy": "none"}, **limit)
    record, _ = made.output(make_event())
    assert size_of(record) > 500
    assert is_claim_check(record) == claimed == bool(made.claims.stored)


@pytest.mark.parametrize("kind", ["edit", "create", "delete"])
def test_a_source_event_that_is_too_large_even_without_content(kind: str) -> None:
    made = bench(BOTH, sink={"max.request.size": 5000})
    record, error = made.error(make_event(kind, comment="c" * 5000))
    error_validator().validate(error)
    assert error["error_type"] == "source_event_too_large"
    assert "over sink.max.request.size 5000" in error["message"]
    assert size_of(record) < 4096
    assert record == bench(BOTH, sink={"max.request.size": 5000}).process(make_event(kind, comment="c" * 5000))


def test_an_event_without_content_may_be_exactly_as_large_as_the_limit() -> None:
    event = make_event("delete")
    size = size_of(bench(sink={"max.request.size": "1GiB"}).output(event)[0])
    assert size_of(bench(sink={"max.request.size": size}).output(event)[0]) == size
    assert bench(sink={"max.request.size": size - 1}).error(event)[1]["error_type"] == "source_event_too_large"


TRACE = (("traceparent", b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"),)


def test_headers_that_are_passed_on_are_in_every_record_and_count_in_its_size() -> None:
    bare, _ = bench(BOTH).output(make_event())
    traced, _ = bench(BOTH).output(make_event(), headers=TRACE)
    assert traced.headers == bare.headers + TRACE
    limit = {"max.request.size": size_of(traced) - 1}
    claimed, _ = bench(BOTH, sink=limit).output(make_event(), headers=TRACE)
    assert is_claim_check(claimed)
    assert claimed.headers[: len(traced.headers)] == traced.headers
    assert not is_claim_check(bench(BOTH, sink=limit).output(make_event())[0])
    error, _ = bench(BOTH).error(b"no event", headers=TRACE)
    assert error.headers == bare.headers[:3] + TRACE


def test_a_store_that_refuses_a_payload_ends_the_job() -> None:
    made = bench(BOTH, sink={"max.request.size": 4096})
    made.claims.down = ConnectionError("refused")
    with pytest.raises(ConnectionError, match="refused"):
        made.process(make_event())


def test_it_has_the_latest_html_when_only_the_parent_failed() -> None:
    answers = {LATEST: PAGE, PARENT: failed(REFUSED)}
    record, error = bench(answers, errors=FULL).error(make_event())
    error_validator().validate(error)
    raw_event = orjson.loads(error.pop("raw_event"))
    page_change_validator().validate(raw_event)
    assert raw_event["revision"]["content_slots"]["main"]["content_body"] == PAGE
    assert "html_diff" not in raw_event
    assert len(record.value) > len(PAGE)
    bounded, without = bench(answers).error(make_event())
    assert error == without, "the rest is the same"
    assert len(bounded.value) < 4096


@pytest.mark.parametrize("answers", [{LATEST: None, PARENT: PAGE}, {LATEST: None, PARENT: None}])
def test_it_has_the_source_event_when_there_is_no_latest_html(answers: dict[int, Any]) -> None:
    given = {revision: answer or failed(REFUSED) for revision, answer in answers.items()}
    event = make_event()
    _record, error = bench(given, errors=FULL).error(event)
    assert orjson.loads(error["raw_event"]) == event


def test_it_has_a_message_that_is_no_event() -> None:
    assert bench(errors=FULL).error(b"no event \xff")[1]["raw_event"] == "no event \N{REPLACEMENT CHARACTER}"
    assert "raw_event" not in bench(errors=FULL).error(None)[1], "there is nothing"


def test_what_a_lane_gives_up_has_it_too() -> None:
    message = SourceMessage(Position("source", 0, 5), b"page", b"{}", datetime(2026, 3, 2, 9, tzinfo=UTC))
    failure = Failure("deadline_exceeded", "it took too long")
    of_full, of_bounded = (
        orjson.loads(bench(errors=errors).job().error(message, failure).value) for errors in (FULL, {})
    )
    assert of_full == of_bounded | {"raw_event": "{}"}


@pytest.mark.parametrize("transient", [False, True])
def test_under_fail_there_is_no_error_event_and_the_query_ends(transient: bool) -> None:
    answers = {LATEST: FetchFailedError(Failure("upstream_error", "status 500"), transient=transient), PARENT: PAGE}
    with pytest.raises(FailedFetchError, match=r"the fetch for .*: upstream_error, status 500"):
        bench(answers, fetch={"on_failure": "fail"}).error(make_event())
