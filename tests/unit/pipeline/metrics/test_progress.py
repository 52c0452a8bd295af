"""What Spark and its JVM tell becomes lines of the log and figures, look by look, also when one does not answer."""

import json
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.events import StateCommitted
from pipeline.metrics import catalogue
from pipeline.metrics.jvm_watch import JvmMeasurements, JvmWatch, MemoryPool
from pipeline.metrics.measurements import Recorder
from pipeline.metrics.progress import Progress, ProgressListener

# As Spark 4.2 writes it, but for what is not read.
TOLD: dict[str, Any] = {
    "batchId": 7,
    "numInputRows": 12,
    "durationMs": {"addBatch": 300, "commitOffsets": 60, "triggerExecution": 450, "walCommit": 50},
    "sources": [
        {
            "startOffset": {"page_change": {"0": 1, "1": 2}},
            "endOffset": {"page_change": {"0": 8, "1": 7}},
            "latestOffset": {"page_change": {"0": 80, "1": 70}},
        }
    ],
}
FIRST = JvmMeasurements(
    pools={
        "Tenured Gen": MemoryPool("heap", used=700, most=1000, live=600),
        "Metaspace": MemoryPool("nonheap", used=90, most=None, live=None),
    },
    classes=17_000,
    threads=70,
    gc_seconds={"Copy": 1.5, "MarkSweepCompact": 0.0},
    cached_rdds=2,
    cached_bytes={"memory": 300, "disk": 40},
    storage_bytes_max=500,
    slots=3,
    slots_configured=4,
)


def read(changes: Any = TOLD, **options: Any) -> Progress:
    progress = Progress.of(TOLD | changes, **options)
    assert progress is not None
    return progress


def test_a_batch_is_read() -> None:
    progress = read()
    assert (progress.batch, progress.rows, progress.commit_ms) == (7, 12, 110)
    assert read(reads={7: 2}.__getitem__).rows == 6, "rows that it reads twice count once"


@pytest.mark.parametrize(
    ("end", "positions"),
    [
        pytest.param({"page_change": {"0": 8, "1": 7}}, [("page_change", 0, 8), ("page_change", 1, 7)], id="one topic"),
        pytest.param(
            {"page_change": {"0": 8}, "page_links": {"0": 3, "1": 4}},
            [("page_change", 0, 8), ("page_links", 0, 3), ("page_links", 1, 4)],
            id="two topics with partitions of the same number",
        ),
        pytest.param('{"page_change":{"0":9}}', [("page_change", 0, 9)], id="JSON in JSON"),
    ],
)
def test_where_a_batch_ends(end: Any, positions: list[tuple[str, int, int]]) -> None:
    source = TOLD["sources"][0] | {"endOffset": end}
    assert read({"sources": [source]}).positions == {(topic, number): at for topic, number, at in positions}


def test_the_state_is_read_where_there_is_one() -> None:
    operator = {
        "operatorName": "dedupeWithinWatermark",
        "numRowsTotal": 50,
        "memoryUsedBytes": 3410808,
        "commitTimeMs": 486,
        "numRowsDroppedByWatermark": 2,
        "customMetrics": {"numDroppedDuplicateRows": 10},
    }
    event_time = {"watermark": "2026-01-01T00:00:09.000Z"}
    assert read({"stateOperators": [operator], "eventTime": event_time}).states == (
        StateCommitted(
            batch=7,
            operator="dedupeWithinWatermark",
            rows=50,
            bytes=3410808,
            commit_ms=486,
            duplicates=10,
            late_dropped=2,
            watermark="2026-01-01T00:00:09.000Z",
        ),
    )
    (without,) = read({"stateOperators": [operator | {"customMetrics": {}}], "eventTime": {}}).states
    assert (without.watermark, without.duplicates) == (None, 0)


def test_a_trigger_without_news_is_no_batch() -> None:
    assert Progress.of(TOLD | {"durationMs": {"latestOffset": 2, "triggerExecution": 3}}) is None


def event(progress: dict[str, Any]) -> Any:
    return SimpleNamespace(progress=SimpleNamespace(json=json.dumps(progress)))


def test_it_is_said_and_told(lines: list[dict[str, Any]]) -> None:
    progresses: list[Progress] = []
    listener = ProgressListener(progresses.append)
    listener.onQueryProgress(event(TOLD))
    listener.onQueryProgress(event(TOLD | {"durationMs": {}}))
    assert [progress.batch for progress in progresses] == [7]
    said = {"event": "batch_committed", "batch": 7, "rows": 12, "durations_ms": TOLD["durationMs"]}
    assert lines == [said]
    ProgressListener().onQueryProgress(event(TOLD))  # which tells no other
    assert lines == [said] * 2


class Jvm:
    def __init__(self, measurements: JvmMeasurements = FIRST) -> None:
        self.measurements = measurements
        self.error: Exception | None = None

    def look(self) -> JvmMeasurements:
        if self.error:
            raise self.error
        return self.measurements


def levels(recorder: Recorder, metric: catalogue.Metric) -> dict[tuple[str, ...], float]:
    measurements = recorder.measurements()
    return {key[1]: measurements.level(key) for key in measurements.levels if key[0] == metric.name}


def collections(recorder: Recorder) -> dict[str, float]:
    return {
        key[1][0]: value for key, value in recorder.measurements().counts.items() if key[0] == catalogue.JVM_GC.name
    }


def test_a_look_is_told_with_its_pools() -> None:
    recorder = Recorder()
    JvmWatch(Jvm(), recorder, interval_s=1).look()
    assert levels(recorder, catalogue.JVM_POOL_USED) == {("heap", "Tenured Gen"): 700, ("nonheap", "Metaspace"): 90}
    assert levels(recorder, catalogue.JVM_POOL_MAX) == {("heap", "Tenured Gen"): 1000}
    assert levels(recorder, catalogue.JVM_POOL_LIVE) == {("heap", "Tenured Gen"): 600}
    assert levels(recorder, catalogue.JVM_CLASSES) == {(): 17_000}
    assert levels(recorder, catalogue.JVM_THREADS) == {(): 70}
    assert levels(recorder, catalogue.CACHED_RDDS) == {(): 2}
    assert levels(recorder, catalogue.CACHED_BYTES) == {("memory",): 300, ("disk",): 40}
    assert levels(recorder, catalogue.STORAGE_MAX) == {(): 500}
    assert (levels(recorder, catalogue.SLOTS), levels(recorder, catalogue.SLOTS_CONFIGURED)) == ({(): 3}, {(): 4})


def test_collections_count_once() -> None:
    recorder, jvm = Recorder(), Jvm()
    watch = JvmWatch(jvm, recorder, interval_s=1)
    watch.look()
    watch.look()
    jvm.measurements = replace(FIRST, gc_seconds={"Copy": 2.0, "MarkSweepCompact": 0.25})
    watch.look()
    assert collections(recorder) == {"Copy": 2.0, "MarkSweepCompact": 0.25}


@given(st.lists(st.integers(0, 10**6), min_size=1, max_size=20))
def test_the_counter_of_collections_never_falls_and_ends_at_the_total(milliseconds: list[int]) -> None:
    recorder, jvm, before = Recorder(), Jvm(), 0.0
    watch = JvmWatch(jvm, recorder, interval_s=1)
    for total in sorted(milliseconds):
        jvm.measurements = replace(FIRST, gc_seconds={"Copy": total / 1000})
        watch.look()
        now = collections(recorder)["Copy"]
        assert now >= before
        before = now
    assert before == pytest.approx(max(milliseconds) / 1000)


def test_a_jvm_that_does_not_answer_is_told_once_and_its_levels_go(lines: list[dict[str, Any]]) -> None:
    recorder, jvm = Recorder(), Jvm()
    watch = JvmWatch(jvm, recorder, interval_s=1)
    watch.look()
    jvm.error = ConnectionRefusedError("gone")
    watch.look()
    watch.look()
    assert [line["event"] for line in lines] == ["jvm_unknown"]
    assert recorder.measurements().levels == {}
    assert collections(recorder) == FIRST.gc_seconds, "a counter stays where it was"
    jvm.error = None
    watch.look()
    assert levels(recorder, catalogue.JVM_THREADS) == {(): 70}
    jvm.error = ConnectionRefusedError("gone")
    watch.look()
    assert [line["event"] for line in lines] == ["jvm_unknown"] * 2


def test_nothing_is_told_of_a_jvm_that_ends_with_the_job(lines: list[dict[str, Any]]) -> None:
    jvm = Jvm()
    watch = JvmWatch(jvm, Recorder(), interval_s=1)
    watch.stop()
    jvm.error = ConnectionRefusedError("gone")
    watch.look()
    assert lines == []
