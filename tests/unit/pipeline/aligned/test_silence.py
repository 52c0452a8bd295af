from pipeline.aligned.spark_source import SilenceWatch
from pipeline.records.record import SourcePartition

A, B = SourcePartition("a", 0), SourcePartition("b", 0)


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
