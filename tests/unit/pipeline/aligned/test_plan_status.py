"""What the driver is told of a plan: which partitions hold the others back, and which are silent."""

from pathlib import Path

from pipeline.aligned.plan_status import PartitionStatus, PlanStatus, StatusWatch, read_status, write_status
from pipeline.aligned.spark_source import SilenceWatch
from pipeline.records.record import SourcePartition
from tests.unit.pipeline.aligned.planned_log import PlannedLog

A, B = SourcePartition("a", 0), SourcePartition("b", 0)
HELD = {"a": [1, 5, 6, 7], "b": [5]}


def look(
    watch: StatusWatch, log: PlannedLog, now_s: float, *, slice_ms: int = 100, max_offsets: int = 1000
) -> dict[str, PartitionStatus]:
    """Of the plan that the log is ready for, which is then taken."""
    plan = log.plan(slice_ms=slice_ms, max_offsets=max_offsets)
    read = {one: max((time for time in log.times[one][:at] if time), default=None) for one, at in log.positions.items()}
    found = watch.look(plan, log.fronts(), read, log.reached(), dict.fromkeys(log.times, 3.5), now_s)
    assert found.common_ms == log.reached()
    log.take(plan)
    return {one.topic: one for one in found.partitions}


def test_who_holds_the_others_back_and_for_how_long() -> None:
    log, watch = PlannedLog.of(HELD), StatusWatch()
    first = look(watch, log, 100.0)
    assert first["b"].held_s == 0, "just now"
    held = look(watch, log, 107.0)
    assert (held["b"].held_s, held["b"].read_ms, held["b"].waiting_ms, held["b"].silent_s) == (7.0, 5, None, 3.5)
    assert (held["a"].held_s, held["a"].read_ms, held["a"].waiting_ms) == (0.0, 5, 6), "it is ahead, and waits"


def test_an_event_that_lets_the_others_go_on_ends_it() -> None:
    log, watch = PlannedLog.of({"a": [1, 5, 60, 70], "b": [5]}), StatusWatch()
    look(watch, log, 100.0)
    log.times[B].append(500)
    assert look(watch, log, 107.0)["b"].held_s == 0
    look(watch, log, 108.0)
    log.times[A].append(600)
    look(watch, log, 110.0)
    assert look(watch, log, 111.0)["b"].held_s == 1.0, "it counts anew"


def test_a_partition_that_is_read_with_all_others_to_the_end_holds_nothing() -> None:
    log, watch = PlannedLog.of({"a": [1, 5], "b": [5]}), StatusWatch()
    for now_s in (100.0, 120.0, 140.0):
        assert {one.held_s for one in look(watch, log, now_s).values()} == {0.0}
        for times in log.times.values():
            times.append(int(now_s))


def test_one_that_is_idle_holds_nothing_and_says_so() -> None:
    log, watch = PlannedLog.of(HELD, idle=frozenset({B})), StatusWatch()
    assert [look(watch, log, at)["b"].idle for at in (100.0, 120.0)] == [True, True]
    assert look(watch, log, 140.0)["b"].held_s == 0


def test_where_the_bound_on_offsets_ends_the_batch_no_partition_does() -> None:
    log, watch = PlannedLog.of({"a": list(range(1, 90)), "b": [50]}), StatusWatch()
    look(watch, log, 100.0, max_offsets=5)
    assert look(watch, log, 107.0, max_offsets=5)["b"].held_s == 0


def test_what_is_written_is_read_and_what_cannot_be_is_none(tmp_path: Path) -> None:
    place = tmp_path / "status.json"
    assert read_status(place) is None
    part = PartitionStatus(topic="a", partition=3, read_ms=5, waiting_ms=None, silent_s=1.5, idle=True, held_s=0)
    status = PlanStatus(at_s=12.5, common_ms=5, partitions=(part,))
    write_status(place, status)
    assert read_status(place) == status
    assert [one.name for one in tmp_path.iterdir()] == ["status.json"]
    place.write_text("{")
    assert read_status(place) is None
    write_status(tmp_path / "not there" / "status.json", status)  # and no batch ends by it


def test_a_partition_is_idle_when_its_end_has_not_moved_for_long_enough() -> None:
    watch = SilenceWatch(10)
    assert watch.look({A: 5, B: 0}, 100.0) == frozenset(), "what was before the first look is not known"
    assert watch.look({A: 6, B: 0}, 109.9) == frozenset()
    assert watch.look({A: 6, B: 0}, 110.0) == {B}
    assert watch.look({A: 6, B: 1}, 119.8) == frozenset(), "an event ends the silence"
    assert watch.look({A: 6, B: 1}, 119.9) == {A}


def test_an_end_that_moves_without_an_event_ends_no_silence() -> None:
    watch = SilenceWatch(10)
    assert watch.look({A: 5}, 100.0, {A}) == frozenset()
    assert watch.look({A: 7}, 109.9, {A}) == frozenset()
    assert watch.look({A: 9}, 110.0, {A}) == {A}
    assert watch.look({A: 10}, 111.0) == frozenset()


def test_a_new_partition_has_its_whole_time() -> None:
    watch = SilenceWatch(10)
    watch.look({A: 5}, 100.0)
    assert watch.look({A: 5, B: 0}, 110.0) == {A}
    assert watch.look({A: 5, B: 0}, 120.0) == {A, B}


def test_without_a_time_nobody_holds_the_others_back() -> None:
    assert SilenceWatch(0).look({A: 5}, 100.0) == {A}
