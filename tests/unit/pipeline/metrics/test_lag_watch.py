"""The lag counts every partition that the topic has, and outlives a broker that is away and a clock that is set."""

from collections.abc import Mapping
from typing import Any, TypeVar

from hypothesis import given
from hypothesis import strategies as st

from pipeline.metrics.clocks import Clocks, Noted
from pipeline.metrics.lag_watch import LagWatch, lag_of
from pipeline.records.record import SourcePartition

NOW_S = 1_000.0
V = TypeVar("V")
SECONDS = st.integers(0, 10**6).map(float)


def of(values: Mapping[int, V], topic: str = "page_change") -> dict[SourcePartition, V]:
    """Values by the number of a topic's partition."""
    return {SourcePartition(topic, number): value for number, value in values.items()}


class Topics:
    """A record a second in each partition, the newest of them now."""

    def __init__(self, bounds: Mapping[SourcePartition, tuple[int, int]]) -> None:
        self.held = dict(bounds)
        self.closed = False
        self.error: Exception | None = None

    def bounds(self) -> Mapping[SourcePartition, tuple[int, int]]:
        if self.error:
            raise self.error
        return self.held

    def time_ms(self, partition: SourcePartition, offset: int) -> int | None:
        begin, end = self.held[partition]
        assert begin <= offset < end, "there is no such record"
        return int((NOW_S - (end - 1 - offset)) * 1000)

    def close(self) -> None:
        self.closed = True


def test_a_partition_that_no_batch_knows_counts_from_its_beginning() -> None:
    lag = lag_of(Topics(of({0: (0, 100), 1: (40, 100), 2: (3, 10)})), of({0: 90, 1: 100}), now_s=NOW_S)
    assert lag.events == of({0: 10, 1: 0, 2: 7})
    assert lag.seconds == of({0: 9.0, 1: 0.0, 2: 6.0})


def test_partitions_of_two_topics_count_each_for_themselves() -> None:
    topics = Topics(of({0: (0, 100)}) | of({0: (0, 30), 1: (0, 5)}, "page_links"))
    lag = lag_of(topics, of({0: 98}) | of({0: 10}, "page_links"), now_s=NOW_S)
    assert lag.events == of({0: 2}) | of({0: 20, 1: 5}, "page_links")
    assert lag.seconds == of({0: 1.0}) | of({0: 19.0, 1: 4.0}, "page_links")


def test_what_the_broker_deleted_is_not_behind() -> None:
    assert lag_of(Topics(of({0: (50, 60)})), of({0: 10}), now_s=NOW_S).events == of({0: 10})


def test_a_topic_that_was_made_again_has_no_negative_lag() -> None:
    lag = lag_of(Topics(of({0: (0, 5)})), of({0: 90}), now_s=NOW_S)
    assert (lag.events, lag.seconds) == (of({0: 0}), of({0: 0.0}))


PARTITIONS = st.builds(SourcePartition, st.sampled_from(["page_change", "page_links"]), st.integers(0, 40))


@given(st.dictionaries(PARTITIONS, st.tuples(st.integers(0, 99), st.integers(0, 99)), max_size=9), st.data())
def test_no_partition_is_left_out_and_nothing_is_negative(
    spans: dict[SourcePartition, tuple[int, int]], data: st.DataObject
) -> None:
    bounds = {partition: (begin, begin + length) for partition, (begin, length) in spans.items()}
    committed = data.draw(st.dictionaries(PARTITIONS, st.integers(0, 300)))
    lag = lag_of(Topics(bounds), committed, now_s=NOW_S)
    assert lag.events.keys() == lag.seconds.keys() == bounds.keys()
    assert all(0 <= lag.events[number] <= end - begin for number, (begin, end) in bounds.items())
    assert all((lag.seconds[number] > 0) <= (lag.events[number] > 0) for number in bounds)


def watch(
    topic: Topics, committed: Mapping[SourcePartition, int] | None, connected: list[Topics] | None = None
) -> LagWatch:
    def connect() -> Any:
        if connected is not None:
            connected.append(topic)
        return topic

    return LagWatch(connect, lambda: committed, interval_s=1, clocks=Clocks(now=lambda: NOW_S, monotonic=lambda: 5.0))


def test_without_a_position_there_is_no_lag(lines: list[dict[str, Any]]) -> None:
    looking = watch(Topics(of({0: (0, 5)})), None)
    looking.look()
    assert looking.lag is None
    assert lines == []


def test_a_broker_that_is_away_is_told_once_and_asked_again(lines: list[dict[str, Any]]) -> None:
    topic, connected = Topics(of({0: (0, 5)})), list[Topics]()
    looking = watch(topic, of({0: 3}), connected)
    looking.look()
    before = looking.lag
    topic.error = OSError("away")
    looking.look()
    looking.look()
    assert [line["event"] for line in lines] == ["lag_unknown"]
    assert looking.lag is before is not None
    assert topic.closed
    topic.error, topic.held = None, of({0: (0, 9)})
    looking.look()
    assert looking.lag is not None
    noted, lag = looking.lag
    assert lag.events == of({0: 6})
    assert noted == Noted(NOW_S, 5.0)
    assert len(connected) == 3
    topic.error = OSError("away again")
    looking.look()
    assert [line["event"] for line in lines] == ["lag_unknown"] * 2


@given(SECONDS, st.floats(-0.9, 0.9))
def test_a_timestamp_stays_as_it_was_noted_while_both_clocks_go_on(passed: float, drift: float) -> None:
    clocks = Clocks(now=lambda: 1e9 + passed + drift, monotonic=lambda: 7 + passed)
    assert clocks.timestamp(Noted(1e9, 7)) == 1e9


@given(SECONDS, st.integers(2, 10**6), st.sampled_from([-1, 1]))
def test_by_a_clock_that_was_set_it_is_as_long_ago_as_it_is(passed: float, by: int, sign: int) -> None:
    clocks = Clocks(now=lambda: 1e9 + passed + sign * by, monotonic=lambda: 7 + passed)
    assert clocks.now() - clocks.timestamp(Noted(1e9, 7)) == passed


def test_a_note_has_both_clocks() -> None:
    assert Clocks(now=lambda: 3.0, monotonic=lambda: 4.0).note() == Noted(3.0, 4.0)
