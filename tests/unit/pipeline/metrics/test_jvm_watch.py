"""What is told of the JVM, look by look, also when it does not answer."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.metrics import catalogue
from pipeline.metrics.jvm_watch import JvmMeasurements, JvmWatch, MemoryPool
from pipeline.metrics.measurements import Recorder

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
