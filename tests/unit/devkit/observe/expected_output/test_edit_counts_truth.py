"""edit-counts: what each event has to become, and an output that counts several."""

from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from devkit.observe.audit.model import Audit
from devkit.observe.audit.replays import NO_REPLAYS, BatchBegin, Replays, RetriedTask
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import OffsetRange, Offsets
from devkit.observe.expected_output.edit_counts_truth import EditCountsTruth
from devkit.observe.expected_output.truth import SourcesOfOutput, WikiAnswers
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig
from tests.unit.devkit.observe.audit.audited import audit, lapsed, nonzero
from tests.unit.devkit.observe.audit.events import SOURCE, arrival, error_of, no_body, source_event, truth

CONFIG = SimpleNamespace(sink=SimpleNamespace(topic="counts"), count=SimpleNamespace(window=timedelta(minutes=1)))
TRUTH = EditCountsTruth(cast(PipelineConfig, CONFIG), WikiAnswers(html=truth, body=no_body))
WINDOW = {"start": "2026-06-01T00:00:00.000Z", "end": "2026-06-01T00:01:00.000Z"}


def edit(offset: int, kind: str = "edit", **of: Any) -> SourceEvent:
    event = source_event(offset, latest=None, parent=None, **of)
    value = orjson.loads(event.value) | {"wiki_id": "enwiki", "page_change_kind": kind}
    return replace(event, value=orjson.dumps(value), published_ms=1)


ONE, TWO, THREE = edit(0), edit(1), edit(2)


def count(*events: SourceEvent, **other: Any) -> bytes:
    value = {
        "meta": {"stream": "counts", "id": f"count-{events[0].entry.offset}"},
        "wiki_id": "enwiki",
        "page_id": 1,
        "edits": len(events),
        "window": WINDOW,
        "events": [list(event.position) for event in events],
    }
    return orjson.dumps(value | other)


def audited(*values: tuple[bytes, SourceEvent], replays: Replays = NO_REPLAYS) -> Audit:
    records = (arrival(named, value, topic="counts", at=at) for at, (value, named) in enumerate(values))
    return audit([ONE, TWO, THREE], *records, truth=TRUTH, replays=replays)


@pytest.mark.parametrize(
    ("again", "left"),
    [
        pytest.param(({(SOURCE, 0): 2}, {(SOURCE, 0): 3}), {}, id="by the batch behind it"),
        pytest.param(({(SOURCE, 0): 3}, {(SOURCE, 0): 3}), {}, id="by one without events"),
        pytest.param(({}, {(SOURCE, 0): 1}), {"duplicated": 1}, id="one of its events was not read yet"),
        pytest.param(({}, {(SOURCE, 1): 9}), {"duplicated": 2}, id="nothing of its partition was read"),
    ],
)
def test_a_window_may_leave_again_with_a_later_batch_that_is_run_again(
    again: tuple[Offsets, Offsets], left: dict[str, int]
) -> None:
    twice = (count(ONE, TWO), TWO), (count(ONE, TWO), TWO), (count(THREE), THREE)
    assert audited(*twice, replays=Replays(1, (OffsetRange(*again),))).problems() == left
    assert audited(*twice, replays=Replays(1)).problems() == {"duplicated": 2}, "a restart alone excuses nothing"


# Batch 0 began at 1000, batch 1 at 3000, and again at 5000; batch 2 at 7000.
BEGUN = tuple(BatchBegin(batch, at_ms) for batch, at_ms in ((0, 1000), (1, 3000), (1, 5000), (2, 7000)))


@pytest.mark.parametrize(
    ("first_ms", "retried", "left"),
    [
        pytest.param(2000, (), {"duplicated": 2}, id="of a batch before it that was committed"),
        pytest.param(3000, (), {}, id="of the batch's first attempt"),
        pytest.param(4999, (), {}, id="of the batch's first attempt at its end"),
        pytest.param(5000, (), {}, id="of its last attempt, beside the one before"),
        pytest.param(8000, (), {"duplicated": 2}, id="of a batch behind it"),
        pytest.param(500, (), {"duplicated": 2}, id="of none"),
        pytest.param(2000, (0,), {}, id="of a batch with a retried task"),
        pytest.param(2000, (1,), {"duplicated": 2}, id="of a batch before that of a retried task"),
        pytest.param(8000, (1,), {"duplicated": 2}, id="of a batch behind that of a retried task"),
    ],
)
def test_a_window_may_leave_again_only_with_the_batch_that_it_left_with(
    first_ms: int, retried: tuple[int, ...], left: dict[str, int]
) -> None:
    everything = OffsetRange({}, {(SOURCE, 0): 3})
    tasks = tuple(RetriedTask((everything,), batch=batch) for batch in retried)
    replays = Replays(1, (everything,), tasks, BEGUN)
    assert left_from(first_ms, replays).problems() == left


@pytest.mark.parametrize(("times", "left"), [(2, {}), (3, {"duplicated": 2})])
def test_of_the_retried_tasks_of_a_batch_one_wrote_the_window(times: int, left: dict[str, int]) -> None:
    tasks = tuple(RetriedTask((OffsetRange({}, {(SOURCE, n): 9}),), batch=0) for n in range(2))
    assert left_from(2000, Replays(retried=tasks, begun=BEGUN), times=times).problems() == left


def left_from(first_ms: int, replays: Replays, *, times: int = 2) -> Audit:
    """Of a window of two events that left first at that time, and again behind it."""
    again = (
        arrival(TWO, count(ONE, TWO), topic="counts", at=at, timestamp_ms=first_ms + 1000 * at) for at in range(times)
    )
    last = arrival(THREE, count(THREE), topic="counts", at=times, timestamp_ms=9000)
    return audit([ONE, TWO, THREE], *again, last, truth=TRUTH, replays=replays)


def test_an_event_that_lapsed_is_not_counted_by_a_window_that_leaves_again() -> None:
    window = arrival(THREE, count(ONE, TWO, THREE), topic="counts", timestamp_ms=2000)
    replays = Replays(1, (OffsetRange({(SOURCE, 0): 3}, {(SOURCE, 0): 3}),))
    figures = audit([ONE, TWO, THREE], lapsed(ONE), window, truth=TRUTH, replays=replays)
    assert figures.problems()["conflicting"] == 1


def test_a_window_that_a_task_wrote_again_is_excused_with_all_that_it_counts() -> None:
    twice = (count(ONE, TWO), TWO), (count(ONE, TWO), TWO), (count(THREE), THREE)
    task = OffsetRange({(SOURCE, 0): 1}, {(SOURCE, 0): 2})  # which names the last one alone
    assert audited(*twice, replays=Replays(retried=(RetriedTask((task,)),))).problems() == {}


@pytest.mark.parametrize(
    ("outputs", "figures"),
    [
        pytest.param([(ONE, TWO), (THREE,)], {"outputs": 3}, id="each event has left with its output"),
        pytest.param([(ONE, THREE)], {"outputs": 2, "lost": 1}, id="an event that no output counts is lost"),
        pytest.param([(ONE, TWO), (TWO, THREE)], {"outputs": 3, "conflicting": 1}, id="two outputs count one event"),
        pytest.param([(ONE, TWO, edit(77)), (THREE,)], {"outputs": 3, "unattributed": 1}, id="it was never published"),
    ],
)
def test_the_events_that_outputs_count(outputs: list[tuple[SourceEvent, ...]], figures: dict[str, int]) -> None:
    assert isinstance(TRUTH, SourcesOfOutput)
    known = (ONE, TWO, THREE)
    named = [(count(*events), [event for event in events if event in known][-1]) for events in outputs]
    assert nonzero(audited(*named)) == {"inputs": 3, **figures}


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"page_id": 2}, "counted for page 2 of enwiki"),
        ({"edits": 2}, "2 edits, and 1 events"),
        ({"edits": 0, "events": []}, "not among those that it counts"),
        ({"meta": {"stream": "x"}}, "meta.stream is 'x'"),
        ({"window": {"start": "2026-06-01T00:00:00Z", "end": "2026-06-01T00:02:00Z"}}, "120 s long"),
        ({"window": {"start": "2026-06-01T00:01:00Z", "end": "2026-06-01T00:02:00Z"}}, "counted in the window from"),
        ({"window": None}, "not a count of edits"),
    ],
)
def test_what_is_wrong_with_a_count(other: dict[str, Any], words: str) -> None:
    assert words in (TRUTH.output(ONE).difference(count(ONE, **other), body_removed=False) or "")
    assert TRUTH.output(ONE).difference(count(ONE), body_removed=False) is None


def test_a_value_that_says_no_events_is_of_the_one_that_its_headers_name() -> None:
    assert TRUTH.sources(b"{") is None
    assert TRUTH.sources(count(ONE)) == [(SOURCE, 0, 0)]


@pytest.mark.parametrize(
    ("event", "stated", "fate"),
    [
        (ONE, Expected(fate="output", latest_revision=20), ("output", None)),
        (ONE, Expected(fate="filtered", reason="content_model"), ("output", None)),
        (edit(3, "delete"), Expected(fate="output"), ("filtered", "not an edit")),
        (ONE, Expected(fate="filtered", reason="canary"), ("filtered", "canary")),
        (ONE, Expected(fate="error", reason="malformed_json"), ("error", "malformed_json")),
    ],
)
def test_edits_are_counted_and_nothing_else(event: SourceEvent, stated: Expected, fate: tuple[str, str | None]) -> None:
    found = TRUTH.expected(SOURCE, event.value, stated)
    assert (found.fate, found.reason) == fate
    assert found.latest_revision is None


@pytest.mark.parametrize(("error_at", "late"), [(0, {}), (5000, {"out_of_order": 1})])
def test_what_lies_between_the_events_of_an_output_leaves_before_it(error_at: int, late: dict[str, int]) -> None:
    """An output has the place of the event that it names, the last one."""
    failing = source_event(1, fate="error", reason="malformed_json")
    output = arrival(THREE, count(ONE, THREE), topic="counts", timestamp_ms=2000)
    error = error_of(failing, timestamp_ms=error_at)
    assert audit([ONE, failing, THREE], output, error, truth=TRUTH).problems() == late
