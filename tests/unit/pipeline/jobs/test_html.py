import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from devkit.observe.expected_output.patch import apply_patch
from pipeline.jobs.html import HtmlJob
from pipeline.jobs.message import Unfinished
from pipeline.jobs.page_change_job import within_not_found_grace
from pipeline.records.page_change import parse
from pipeline.records.record import Position
from pipeline.schemas import error_validator, page_change_validator
from tests.unit.pipeline.jobs.conftest import bench, failed
from tests.unit.pipeline.making import make_event

LATEST, PARENT = 7 * 4096 + 2, 7 * 4096 + 1
BOTH = {LATEST: "<p>new</p>\n", PARENT: "<p>old</p>\n"}
NO_SLOTS = {"content_slots": None}
JSON_SLOT = {"content_slots": {"main": {"content_model": "json"}}}
HIDDEN = {"is_content_visible": False}
NOW = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)
TEN_S = timedelta(seconds=10)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        ("edit", {"meta": {"domain": "canary"}}),
        ("delete", {"meta": {"domain": "canary"}}),
        ("edit", {"revision": JSON_SLOT}),
        ("edit", {"revision": JSON_SLOT | HIDDEN}),
        ("delete", {"revision": JSON_SLOT}),
        ("edit", {"revision": NO_SLOTS}),
        ("undelete", {"revision": NO_SLOTS}),
        ("visibility_change", {"revision": NO_SLOTS}),
        ("create", {"revision": {"content_slots": {"other": {"content_model": "wikitext"}}}}),
    ],
)
def test_filtered_without_a_fetch(kind: str, changes: dict[str, Any]) -> None:
    made = bench(BOTH)
    assert made.process(make_event(kind, **changes)) is None
    assert not made.client.asked


@pytest.mark.parametrize("job", ["html-enrichment", "content-enrichment"])
@pytest.mark.parametrize(
    ("kind", "revision"),
    [
        ("delete", {}),
        ("delete", NO_SLOTS),
        ("delete", NO_SLOTS | HIDDEN),
        ("edit", HIDDEN),
        ("visibility_change", HIDDEN),
        ("visibility_change", NO_SLOTS | HIDDEN),
    ],
)
def test_passed_without_a_fetch(job: str, kind: str, revision: dict[str, Any]) -> None:
    made, event = bench(BOTH, job=job), make_event(kind, revision=revision)
    _, output = made.output(event)
    page_change_validator().validate(output)
    assert output["revision"] == event["revision"]
    assert not made.client.asked


@pytest.mark.parametrize(
    ("kind", "changes", "asked"),
    [
        ("edit", {}, [LATEST, PARENT]),
        ("move", {}, [LATEST, PARENT]),
        ("edit", {"revision": {"rev_parent_id": None}}, [LATEST]),
        ("edit", {"revision": {"rev_parent_id": 0}}, [LATEST]),
        ("create", {"revision": {"rev_parent_id": None}}, [LATEST]),
        ("create", {}, [LATEST]),
        ("undelete", {}, [LATEST]),
        ("visibility_change", {}, [LATEST]),
    ],
)
def test_what_is_fetched_for_each_kind(kind: str, changes: dict[str, Any], asked: list[int]) -> None:
    made = bench(BOTH)
    event = make_event(kind, **changes)
    record, output = made.output(event)
    assert [rev_id for _, rev_id, _, _ in made.client.asked] == asked
    assert output["revision"]["content_slots"]["main"]["content_body"] == BOTH[LATEST]
    diff = output.pop("html_diff", None)
    assert (diff is not None) == (PARENT in asked)
    if diff:
        assert (diff["base_rev_id"], diff["format"]) == (PARENT, "unified")
        assert apply_patch(BOTH[PARENT], diff["body"]) == BOTH[LATEST]
    page_change_validator().validate(output)
    assert record.key == b"page"
    assert record.headers == (*Position("source", 0, 5).headers(), ("source-event-id", event["meta"]["id"].encode()))


def test_both_requests_share_the_deadline_and_name_event_and_role() -> None:
    made, event = bench(BOTH), make_event()
    made.output(event)
    (latest, parent) = made.client.asked
    assert latest[:3] == ("enwiki", LATEST, f"{event['meta']['id']}:latest")
    assert parent[:3] == ("enwiki", PARENT, f"{event['meta']['id']}:parent")
    assert latest[3] is parent[3]
    assert latest[3].remaining_s() == 41.5


def test_equal_revisions_have_an_empty_diff() -> None:
    _, output = bench({LATEST: "<p>", PARENT: "<p>"}).output(make_event())
    assert output["html_diff"] == {"base_rev_id": PARENT, "format": "unified", "body": ""}


PASSING = failed("deadline_exceeded", transient=True)


@pytest.mark.parametrize("order", [[LATEST, PARENT], [PARENT, LATEST]], ids=["latest first", "parent first"])
@pytest.mark.parametrize(
    ("latest", "parent", "reported"),
    [
        (failed("revision_not_found"), "<p>", "revision_not_found"),
        ("<p>", failed("body_too_large"), "body_too_large"),
        ("<p>", failed("upstream_error"), "upstream_error"),
        ("<p>", failed("content_refused_by_upstream"), "content_refused_by_upstream"),
        ("<p>", failed("invalid_body"), "invalid_body"),
        (failed("upstream_error"), failed("access_denied"), "upstream_error"),
        (failed("access_denied"), failed("revision_not_found"), "access_denied"),
        (failed("access_denied"), failed("upstream_error"), "access_denied"),
        # To put the event aside would only delay its error event.
        (failed("body_too_large"), PASSING, "body_too_large"),
        (PASSING, failed("body_too_large"), "body_too_large"),
    ],
)
def test_the_reported_failure_is_that_of_any_order(order: list[int], latest: Any, parent: Any, reported: str) -> None:
    answers = {LATEST: latest, PARENT: parent}
    made = bench(answers, order=order)
    record, error = made.error(make_event())
    error_validator().validate(error)
    assert error["error_type"] == reported
    assert len(made.client.asked) == 2
    assert record == bench(answers).process(make_event())


@pytest.mark.parametrize("gone", ["revision_not_found", "access_denied"])
def test_a_parent_that_is_hidden_or_deleted_takes_only_the_diff(gone: str) -> None:
    _record, output = bench({LATEST: "<p>", PARENT: failed(gone)}).output(make_event())
    page_change_validator().validate(output)
    assert output["revision"]["content_slots"]["main"]["content_body"] == "<p>"
    assert "html_diff" not in output


LATER = failed("fetch_failed", transient=True)
REFUSED = failed("breaker_open", transient=True, retry_after_s=7.0, tried=False)


@pytest.mark.parametrize(
    ("latest", "parent", "outcome"),
    [
        pytest.param("<p>", LATER, Unfinished(LATER.failure), id="the parent may come later"),
        pytest.param(PASSING, failed("access_denied"), Unfinished(PASSING.failure), id="the latest may, of no parent"),
        pytest.param(REFUSED, REFUSED, Unfinished(REFUSED.failure, retry_after_s=7.0, tried=False), id="not asked"),
    ],
)
def test_what_may_succeed_later_is_no_error_event_yet(latest: Any, parent: Any, outcome: Unfinished) -> None:
    assert bench({LATEST: latest, PARENT: parent}).process(make_event()) == outcome


def test_without_a_key_a_record_has_that_of_its_page() -> None:
    assert bench(BOTH).output(make_event(), key=None)[0].key == b'{"wiki_id":"enwiki","page_id":7}'
    assert bench(BOTH).output(make_event(), key=b"")[0].key == b"", "an empty key is one"


def young(answers: dict[int, Any], *, not_found_grace: str = "31s") -> Any:
    """The job half a minute after the event was received."""
    made = bench(answers, fetch={"not_found_grace": not_found_grace})
    now = datetime(2026, 3, 2, 9, 0, 30, tzinfo=UTC)
    made.make = lambda config, client: HtmlJob(config, client, lambda: now)
    return made


@pytest.mark.parametrize("unknown", [(LATEST,), (PARENT,), (LATEST, PARENT)])
@pytest.mark.parametrize(("not_found_grace", "again"), [("0s", False), ("29s", False), ("30s", True)])
def test_an_unknown_revision_may_still_appear(unknown: tuple[int, ...], not_found_grace: str, again: bool) -> None:
    gone = failed("revision_not_found", retry_after_s=7.0)
    made = young(BOTH | dict.fromkeys(unknown, gone), not_found_grace=not_found_grace)
    if again:
        assert made.process(make_event()) == Unfinished(gone.failure, retry_after_s=7.0)
    elif unknown == (PARENT,):
        assert "html_diff" not in made.output(make_event())[1]
    else:
        assert made.error(make_event())[1]["error_type"] == "revision_not_found"


@pytest.mark.parametrize("error_type", ["upstream_error", "content_refused_by_upstream", "body_too_large"])
def test_any_other_failure_of_a_young_event_stays_final(error_type: str) -> None:
    made = young({LATEST: failed("revision_not_found"), PARENT: failed(error_type)})
    assert made.error(make_event())[1]["error_type"] == error_type


@pytest.mark.parametrize(
    ("value", "error_type"),
    [(None, "malformed_json"), (b"", "malformed_json"), (b"[]", "schema_violation"), (b"[" * 9999, "malformed_json")],
)
def test_a_message_that_is_no_event_is_an_error_event(value: bytes | None, error_type: str) -> None:
    made = bench()
    record, error = made.error(value, key=None)
    error_validator().validate(error)
    assert (error["error_type"], error["errored_stream_name"]) == (error_type, "source")
    assert record.headers == Position("source", 0, 5).headers()
    assert not made.client.asked


def test_what_is_not_a_failure_of_this_event_ends_the_job() -> None:
    for answers in ({LATEST: MemoryError(), PARENT: "<p>"}, {LATEST: "<p>", PARENT: MemoryError()}):
        with pytest.raises(MemoryError):
            bench(answers).process(make_event())


def test_closing_the_job_closes_its_connections() -> None:
    made = bench()
    asyncio.run(made.job().close())
    assert made.client.closed


@pytest.mark.parametrize(
    ("received", "limit", "young"),
    [
        ("2026-03-02T09:00:29Z", timedelta(0), False),
        ("2026-03-02T09:00:29Z", TEN_S, True),
        ("2026-03-02T09:00:20.001Z", TEN_S, True),
        ("2026-03-02T09:00:20Z", TEN_S, False),
        ("2026-03-02T10:00:29+01:00", TEN_S, True),
        ("2026-03-01T00:00:00Z", TEN_S, False),
        # The wiki's clock may be ahead.
        ("2026-03-02T09:00:31Z", TEN_S, True),
        # Without it the event's own time counts, which is 09:00:00 here.
        (None, TEN_S, False),
        (None, timedelta(seconds=40), True),
        # A leap second: no datetime, but allowed by the schema.
        ("2016-12-31T23:59:60Z", timedelta(hours=1_000_000), False),
    ],
)
def test_an_event_is_young_for_a_time_after_its_receipt(received: str | None, limit: timedelta, young: bool) -> None:
    event = parse(orjson.dumps(make_event(meta={"dt": received})), "t/0/1")
    assert within_not_found_grace(event, limit, NOW) == young
