"""Whatever stands in a message, it leaves as one record that is valid and fits, or is filtered; nothing is raised."""

import asyncio
import json
from datetime import UTC, datetime
from typing import Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.batch_budget import BatchBudget
from pipeline.deferral.lane import OPEN_FENCE, MainLane
from pipeline.deferral.task import LedgerTarget, MainTask
from pipeline.fetch.client import FetchFailedError
from pipeline.jobs.enrichment import MOST_KEY_BYTES
from pipeline.jobs.message import Outcome, SourceMessage
from pipeline.records.error_event import Failure
from pipeline.records.page_change import InvalidEventError
from pipeline.records.record import Position, Record
from pipeline.records.size import serialized_size
from pipeline.schemas import PAGE_CHANGE_URI, error_validator, known_fields_validator, used_fields_validator
from pipeline.worker.unknown_versions import VersionsSeen, versions_of
from tests.unit.pipeline.jobs.broken_events import EDGES, ENVELOPES, broken_values, full_event, paths, with_edge
from tests.unit.pipeline.jobs.conftest import bench
from tests.unit.pipeline.making import make_event

MOST_ERROR_BYTES = 4_096
MAX_REQUEST, LEDGER_LIMIT = 100_000, 50_000
TEN_MB = 10_000_000
JOBS: tuple[str, ...] = ("html-enrichment", "content-enrichment")
KINDS = ("create", "edit", "move", "delete", "undelete", "visibility_change")
VALUES = st.one_of([broken_values(make_event(kind)) for kind in KINDS])
LENGTHS = st.sampled_from([None, 0, 1, 20, 2_000, MOST_KEY_BYTES, MOST_KEY_BYTES + 1, LEDGER_LIMIT, 2 * MAX_REQUEST])
SLOW = FetchFailedError(Failure("deadline_exceeded", "it takes long"), transient=True)


class Answers(dict[int, str | FetchFailedError]):
    """The right one for each revision there is."""

    def __init__(self, job: str, failure: FetchFailedError | None = None) -> None:
        super().__init__({0: ""})
        self._job, self._failure = job, failure

    def __missing__(self, rev_id: int) -> str | FetchFailedError:
        if self._failure is not None:
            return self._failure
        if self._job == "html-enrichment":
            return f"<p>{rev_id}</p>\n"
        revision = {"revid": rev_id, "slots": {"main": {"content": "text"}}}
        return json.dumps({"query": {"pages": [{"revisions": [revision]}]}})


def one_record_or_none(config: PipelineConfig, outcome: Outcome) -> None:
    if outcome is None:
        return
    assert isinstance(outcome, Record), outcome
    size = serialized_size(outcome.key, outcome.value, outcome.headers)
    written = orjson.loads(outcome.value)
    if outcome.topic == config.sink.topic:
        assert size <= config.sink.max_request_size
        known = written["$schema"] == PAGE_CHANGE_URI
        (known_fields_validator() if known else used_fields_validator()).validate(written)
    else:
        assert outcome.topic == config.sink.error_topic
        assert size <= MOST_ERROR_BYTES
        error_validator().validate(written)


def message(value: bytes | None, key: bytes | None = b"page") -> SourceMessage:
    return SourceMessage(Position("source", 0, 5), key, value, datetime(2026, 3, 2, 9, tzinfo=UTC))


def outcomes(made: Any, values: list[bytes | None]) -> list[Outcome]:
    job = made.job()

    async def go() -> list[Outcome]:
        return [await job.process(message(value), limit_s=5) for value in values]

    return asyncio.run(go())


@pytest.mark.parametrize("job", JOBS)
@given(value=VALUES, length=LENGTHS)
def test_a_broken_event_ends_as_one_record(job: str, value: bytes | None, length: int | None) -> None:
    key = None if length is None else bytes(length)
    made = bench(Answers(job), job=job, sink={"max.request.size": MAX_REQUEST})
    one_record_or_none(made.config, made.process(value, key=key))


@pytest.mark.parametrize("edge", EDGES, ids=lambda edge: ascii(edge[:20]))
def test_every_edge_at_every_place(edge: bytes) -> None:
    """The same without chance."""
    made = bench(Answers("html-enrichment"), sink={"max.request.size": MAX_REQUEST})
    whole = full_event(make_event())
    for outcome in outcomes(made, [with_edge(whole, place, edge) for place in paths(whole)]):
        one_record_or_none(made.config, outcome)


def test_what_is_around_an_event() -> None:
    made = bench(Answers("html-enrichment"))
    for outcome in outcomes(made, [envelope(orjson.dumps(make_event())) for envelope in ENVELOPES]):
        one_record_or_none(made.config, outcome)


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize(
    ("event_id", "is_named"),
    [
        ("5d2f36f8-3b8e-4c36-9c3c-0d5a4f3c2b1a", True),
        ("5D2F36F8-3B8E-4C36-9C3C-0D5A4F3C2B1A", True),
        ("", False),
        ("5d2f36f8", False),
        ("x" * 50_000, False),
    ],
    ids=lambda value: str(value)[:10],
)
def test_output_and_error_event_name_the_same_event(job: str, event_id: str, *, is_named: bool) -> None:
    """By a header of fixed length, or not at all."""
    broken = FetchFailedError(Failure("body_too_large", "it is large"))
    value = make_event(meta={"id": event_id})
    output, _ = bench(Answers(job), job=job).output(value)
    error, _ = bench(Answers(job, broken), job=job).error(value)
    named = (("source-event-id", event_id.encode()),) if is_named else ()
    assert output.headers == error.headers == Position("source", 0, 5).headers() + named


@pytest.mark.parametrize("character", ["x", "\N{GRINNING FACE}", "\0"])
@pytest.mark.parametrize(
    ("place", "error_type"),
    [
        (("page", "page_title"), "source_event_too_large"),
        (("wiki_id",), "source_event_too_large"),
        (("dt",), "schema_violation"),
    ],
    ids=["title", "wiki", "time"],
)
def test_ten_megabytes_in_one_field(place: tuple[str, ...], error_type: str, character: str) -> None:
    text = character * (TEN_MB // (len(orjson.dumps(character)) - 2))
    made = bench(Answers("html-enrichment"), sink={"max.request.size": "1MiB"})
    record, error = made.error(with_edge(full_event(make_event()), place, orjson.dumps(text)))
    assert error["error_type"] == error_type
    one_record_or_none(made.config, record)


@given(value=VALUES, length=LENGTHS, slow=st.booleans())
@example(value=orjson.dumps(make_event()), length=2 * MAX_REQUEST, slow=True)
def test_a_broken_event_leaves_the_lane_as_one_record(value: bytes | None, length: int | None, *, slow: bool) -> None:
    """Also when it is deferred: what is written then is within the ledger's limit."""
    key = None if length is None else bytes(length)
    made = bench(Answers("html-enrichment", SLOW if slow else None), sink={"max.request.size": MAX_REQUEST})
    task = MainTask(
        job=made.job(),
        lane=MainLane(OPEN_FENCE),
        target=LedgerTarget("ledger", epoch=1, limit_bytes=LEDGER_LIMIT, batch=1),
        limit_s=5,
        backoff_ms=lambda _: 1_000,
        now_ms=lambda: 1_000_000,
        budget=BatchBudget(300, 5),
    )
    record = task.settle(message(value, key), asyncio.run(task.process(message(value, key))))
    if record is not None and record.topic == "ledger":
        assert slow
        assert serialized_size(record.key, record.value, record.headers) <= LEDGER_LIMIT
    else:
        one_record_or_none(made.config, record)


@pytest.mark.parametrize("schema", ["/mediawiki/page/change/1.3.0", "/mediawiki/page/change/2.0.0"])
def test_an_error_event_names_the_schema_of_its_event(schema: str) -> None:
    made = bench(Answers("html-enrichment", FetchFailedError(Failure("body_too_large", "it is large"))))
    _record, error = made.error(orjson.dumps(make_event() | {"$schema": schema}))
    assert error["error_type"] == ("body_too_large" if "1.3" in schema else "unknown_schema_version")
    assert error["errored_schema_uri"] == schema


NEWER = b'{"$schema":"/mediawiki/page/change/2.0.0"}'
# What can be read, and not be passed on.
TOO_DEEP = NEWER[:-1] + b',"a":' + b"[" * 400 + b"]" * 400 + b"}"


def messages(*values: bytes) -> list[SourceMessage]:
    when = datetime(2026, 3, 2, 9, tzinfo=UTC)
    return [SourceMessage(Position("source", 0, at), b"page", value, when) for at, value in enumerate(values)]


def test_the_schema_of_another_major_version() -> None:
    (newer,) = messages(NEWER)
    assert bench().job().unreadable_version(newer) == "/mediawiki/page/change/2.0.0"


@pytest.mark.parametrize("value", [TOO_DEEP, b"no JSON", b"{}", b'{"$schema":"/another/2.0.0"}'])
def test_what_is_no_event_says_nothing_of_its_version(value: bytes) -> None:
    (message,) = messages(value)
    with pytest.raises(InvalidEventError):
        bench().job().unreadable_version(message)


def test_what_is_no_event_hides_no_version_that_comes_behind_it() -> None:
    """Those events would become final errors, one by one, instead of stopping the job."""
    given = messages(TOO_DEEP, NEWER, NEWER)
    assert versions_of(given, bench().job().unreadable_version) == VersionsSeen(3, 2, "/mediawiki/page/change/2.0.0")
