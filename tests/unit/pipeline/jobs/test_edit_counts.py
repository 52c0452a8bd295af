"""How often a page was edited in a window: the groups of events, and the output of a group."""

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from pipeline.config.state_section import Count
from pipeline.jobs.edit_counts import EditCountsJob, window_start
from pipeline.jobs.message import SourceMessage
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position
from pipeline.schemas import edit_count_validator
from pipeline.state.counted_by_window import group_of
from tests.unit.pipeline.making import make_config, make_event

WHEN = datetime(2026, 3, 2, 9, 0, 42, tzinfo=UTC)
COUNTED = (Position("a", 0, 3), Position("b", 1, 9))
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def message(value: bytes, **more: Any) -> SourceMessage:
    return SourceMessage(Position("b", 1, 9), b"key", value, WHEN, **more)


def counted(positions: tuple[Position, ...] | None = COUNTED) -> dict[str, Any]:
    job = EditCountsJob(Count())
    event = job.parse(message(orjson.dumps(make_event()), counted=positions))
    assert job.wants(event)
    assert not job.needs_fetch(event)
    return dict(orjson.loads(job.value(event, None, stream="counts")))


def test_an_output_says_page_window_and_the_events_that_it_counts() -> None:
    event, found = make_event(), counted()
    edit_count_validator().validate(found)
    assert (found["wiki_id"], found["page_id"]) == (event["wiki_id"], event["page"]["page_id"])
    assert (found["edits"], found["events"]) == (2, [["a", 0, 3], ["b", 1, 9]])
    assert found["window"] == {"start": "2026-03-02T09:00:00.000Z", "end": "2026-03-02T09:01:00.000Z"}
    assert (found["meta"]["stream"], found["meta"]["dt"]) == ("counts", found["window"]["end"])


def test_a_repeat_is_the_same_and_an_event_alone_counts_itself() -> None:
    assert counted() == counted()
    assert counted(None)["events"] == [["b", 1, 9]]


def test_what_is_no_event_is_an_error_event_as_in_any_job() -> None:
    with pytest.raises(InvalidEventError):
        EditCountsJob(Count()).parse(message(b"{", counted=COUNTED))


NEWER = {"$schema": "/mediawiki/page/change/1.3.0"}


@pytest.mark.parametrize("page", [{"page_id": 7}, {"page_id": 7, "page_title": 7}, {"page_id": 7, "page_title": ""}])
def test_an_edit_of_another_version_whose_page_has_no_title_is_an_error_event_by_itself(page: dict[str, Any]) -> None:
    """The versions that are not stated here are asked for less, and an output needs the title."""
    edit = message(orjson.dumps(make_event() | NEWER | {"page": page}))
    with pytest.raises(InvalidEventError) as raised:
        EditCountsJob(Count()).parse(edit)
    assert raised.value.failure.error_type == "schema_violation"
    assert group_of(edit, make_config(job="edit-counts")) == str(edit.position)


@pytest.mark.parametrize(("kind", "domain"), [("move", "en.wikipedia.org"), ("edit", "canary")])
def test_what_is_not_counted_needs_no_title(kind: str, domain: str) -> None:
    event = make_event(kind, meta={"domain": domain}) | NEWER | {"page": {"page_id": 7}}
    of_it = message(orjson.dumps(event))
    assert group_of(of_it, make_config(job="edit-counts")) is None
    assert EditCountsJob(Count()).parse(of_it).domain == domain


@given(
    st.datetimes(datetime(1990, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC)),
    st.timedeltas(timedelta(milliseconds=1), timedelta(days=9)),
)
def test_each_time_lies_in_one_window_of_those_from_the_epoch_on(at: datetime, window: timedelta) -> None:
    start = window_start(at, window)
    assert start <= at < start + window
    assert (start - EPOCH) % window == timedelta(0)


EDIT = orjson.dumps(make_event())
BY_ITSELF = "b/1/9"
LAPSING = {"read": "aligned", "late": "lapse", "lateness": "10s"}


@pytest.mark.parametrize(
    ("edit", "source", "is_with_its_page"),
    [
        pytest.param(message(EDIT), {}, True, id="an edit"),
        pytest.param(SourceMessage(Position("a", 0, 1), None, EDIT, WHEN), {}, True, id="an edit without a key"),
        pytest.param(SourceMessage(Position("b", 1, 9), b"k" * 20_000, EDIT, WHEN), {}, False, id="too large a key"),
        pytest.param(message(b"{"), LAPSING, False, id="what cannot be read"),
        pytest.param(message(EDIT, horizon=WHEN + timedelta(seconds=11)), LAPSING, False, id="a late edit"),
        pytest.param(message(EDIT, horizon=WHEN + timedelta(seconds=10)), LAPSING, True, id="just not late"),
    ],
)
def test_the_group_of_an_edit_is_its_page_s(
    edit: SourceMessage, source: dict[str, Any], is_with_its_page: bool
) -> None:
    group = group_of(edit, make_config(job="edit-counts", source=source))
    of_page = group_of(message(EDIT), make_config(job="edit-counts"))
    assert str(of_page).startswith("page ")
    assert group == (of_page if is_with_its_page else BY_ITSELF)


@pytest.mark.parametrize("changes", [{"meta": {"domain": "canary"}}, {"page_change_kind": "create"}])
def test_what_is_no_edit_has_no_group(changes: dict[str, Any]) -> None:
    assert group_of(message(orjson.dumps(make_event(**changes))), make_config(job="edit-counts")) is None


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ({"deduplicate": {"within": "10s"}}, "counts each event; remove it"),
        ({"read": "aligned"}, "source.late is process"),
        ({"read": "aligned", "late": "lapse", "lateness": "40s"}, "lateness 40 s is more than count.delay 30 s"),
    ],
)
def test_a_configuration_that_would_lose_events_is_refused(source: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError, match=words):
        make_config(job="edit-counts", source=source)


def test_an_edit_without_a_time_is_of_no_window_and_becomes_an_error_event() -> None:
    """Late it is not: nobody knows when it happened."""
    late = {"source": {"read": "aligned", "late": "lapse", "lateness": "1s"}}
    config = make_config(job="edit-counts", **late)

    def without_time(value: bytes) -> SourceMessage:
        return SourceMessage(Position("b", 1, 9), b"key", value, EPOCH, WHEN)

    edit = without_time(orjson.dumps(make_event()))
    assert group_of(edit, config) == str(edit.position)
    with pytest.raises(InvalidEventError) as raised:
        EditCountsJob(Count()).parse(edit)
    assert raised.value.failure.error_type == "record_without_time"
    other = without_time(orjson.dumps(make_event("delete")))
    assert group_of(other, config) is None
    assert EditCountsJob(Count()).parse(other).kind == "delete"
