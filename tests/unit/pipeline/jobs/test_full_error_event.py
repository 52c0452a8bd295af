"""What an error event has of the event that failed: nothing, or under the policy of the incident all of it."""

from datetime import UTC, datetime
from typing import Any

import orjson
import pytest

from pipeline.fetch.client import FetchFailedError
from pipeline.jobs.enrichment import FailedFetchError
from pipeline.jobs.message import SourceMessage
from pipeline.records.error_event import Failure
from pipeline.records.record import Position
from pipeline.schemas import error_validator, page_change_validator
from tests.unit.pipeline.jobs.conftest import bench, failed
from tests.unit.pipeline.making import make_event

LATEST, PARENT = 7 * 4096 + 2, 7 * 4096 + 1
FULL = {"payload": "full_event"}
PAGE = "<p>latest</p>" * 100_000
REFUSED = "content_refused_by_upstream"


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
