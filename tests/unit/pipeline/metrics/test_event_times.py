from pipeline.aligned.plan_status import PartitionStatus, PlanStatus
from pipeline.metrics import catalogue
from pipeline.metrics.job_metrics import record_event_times
from pipeline.metrics.measurements import Recorder


def part(topic: str, *, read_ms: int | None, waiting_ms: int | None = None, held_s: float = 0) -> PartitionStatus:
    return PartitionStatus(
        topic=topic, partition=1, read_ms=read_ms, waiting_ms=waiting_ms, silent_s=0, idle=held_s == 0, held_s=held_s
    )


def levels(recorder: Recorder) -> dict[tuple[str, str], float]:
    measurements = recorder.measurements()
    return {(key[0], key[1][0] if key[1] else ""): measurements.level(key) for key in measurements.levels}


def test_each_partition_stands_against_the_common_time() -> None:
    recorder = Recorder()
    status = PlanStatus(
        at_s=1,
        common_ms=7_500,
        partitions=(part("a", read_ms=7_500, waiting_ms=9_000), part("b", read_ms=2_000, held_s=4)),
    )
    record_event_times(status, recorder)
    assert levels(recorder) == {
        (catalogue.EVENT_TIME_COMMON.name, ""): 7.5,
        (catalogue.EVENT_TIME.name, "a"): 7.5,
        (catalogue.EVENT_TIME.name, "b"): 2.0,
        (catalogue.EVENT_TIME_WAITING.name, "a"): 9.0,
        (catalogue.EVENT_TIME_HELD.name, "a"): 0.0,
        (catalogue.EVENT_TIME_HELD.name, "b"): 4.0,
        (catalogue.EVENT_TIME_IDLE.name, "a"): 1.0,
        (catalogue.EVENT_TIME_IDLE.name, "b"): 0.0,
    }
    assert all(labels == ("a", "1") for (_, labels) in recorder.measurements().levels if labels and labels[0] == "a")


def test_what_waits_no_more_is_gone() -> None:
    recorder = Recorder()
    record_event_times(
        PlanStatus(at_s=1, common_ms=None, partitions=(part("a", read_ms=None, waiting_ms=5),)), recorder
    )
    assert (catalogue.EVENT_TIME_WAITING.name, "a") in levels(recorder)
    assert (catalogue.EVENT_TIME.name, "a") not in levels(recorder), "nothing was read of it"
    record_event_times(PlanStatus(at_s=2, common_ms=5, partitions=(part("a", read_ms=5),)), recorder)
    assert (catalogue.EVENT_TIME_WAITING.name, "a") not in levels(recorder)
    assert levels(recorder)[catalogue.EVENT_TIME.name, "a"] == 0.005
