"""Latencies of events made by hand, and percentiles held against what they are bounds of."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.latency import EventLatency, Latencies, Percentile, latencies
from devkit.observe.settings import ChangedValue, not_as_shipped
from devkit.observe.time_series import Of, TimeSeries, between, figure, waiting
from tests.unit.devkit.observe.audit.events import source_event
from tests.unit.devkit.observed import A_SAMPLE


def found(
    events: list[SourceEvent],
    *,
    published: dict[int, int],
    left: dict[int, int] | None = None,
    pages_matched: set[tuple[str, int]] | None = None,
) -> Latencies:
    """`published` and `left` by offset, the arm's end is at 20 s."""
    by_offset = {event.entry.offset: event.position for event in events}
    return latencies(
        events,
        published_ms={by_offset[offset]: at for offset, at in published.items()},
        emitted_ms={by_offset[offset]: at for offset, at in (left or {}).items()},
        ended_ms=20_000,
        pages_matched=pages_matched,
    )


def test_from_append_to_append() -> None:
    events = [source_event(0), source_event(1)]
    result = found(events, published={0: 1000, 1: 2000}, left={0: 1500})
    assert result.events == (
        EventLatency(("enwiki", 1), 1000, 0.5, is_emitted=True),
        EventLatency(("enwiki", 1), 2000, 18.0, is_emitted=False),
    )
    assert (result.emitted, result.waiting) == (1, 1)


def test_an_error_event_is_a_way_to_leave_and_a_filtered_event_need_not() -> None:
    error, filtered = source_event(0, fate="error", reason="x"), source_event(1, fate="filtered", reason="canary")
    result = found([error, filtered], published={0: 1000, 1: 1000}, left={0: 1250})
    assert result.events == (EventLatency(None, 1000, 0.25, is_emitted=True),)


def test_of_what_is_not_known_to_be_published_there_is_none_and_two_clocks_give_no_negative_one() -> None:
    assert found([source_event(0)], published={}).events == ()
    assert found([source_event(0)], published={0: 1000}, left={0: 990}).events[0].seconds == 0


def test_healthy_are_the_events_of_pages_that_met_no_rule() -> None:
    slow, healthy = source_event(0, page=7), source_event(1, page=8)
    malformed = source_event(2, fate="error", reason="malformed_json")
    result = found([slow, healthy, malformed], published={0: 0, 1: 0, 2: 0}, pages_matched={("enwiki", 7)})
    left = result.healthy()
    assert left is not None
    assert [event.page for event in left.events] == [("enwiki", 8), None]
    assert found([slow], published={0: 0}).healthy() is None, "which are healthy is not known"


def test_percentiles_by_nearest_rank() -> None:
    events = tuple(EventLatency(None, 0, float(second), is_emitted=True) for second in range(1, 101))
    for percent in (1, 50, 99, 100):
        assert Latencies(events).percentile(percent) == Percentile(percent, percent)
    assert Latencies(events).percentile(0.1) == Percentile(1, 1)
    assert Latencies().percentile(50) is None


def test_figures_know_what_they_do_not_know() -> None:
    events = (EventLatency(None, 0, 0.4004, is_emitted=True), EventLatency(None, 0, 9.0, is_emitted=False))
    figures = Latencies(events).figures()
    assert (figures.emitted, figures.waiting, figures.p50_s, figures.p95_s, figures.max_s) == (1, 1, 0.4, None, None)


def test_by_the_second_of_publishing() -> None:
    events = [EventLatency(None, at, 1.0, is_emitted=True) for at in (10_000, 10_999, 9_999, 12_000)]
    seconds = {second: len(group.events) for second, group in Latencies(tuple(events)).by_second(10_000)}
    assert seconds == {-1: 1, 0: 2, 2: 1}


times = st.floats(0, 100, allow_nan=False)


@given(st.lists(times, max_size=20), st.lists(st.tuples(times, times), max_size=20), st.floats(0.1, 100))
def test_percentiles_bound_what_they_would_be_had_all_left(
    left: list[float], waiting: list[tuple[float, float]], percent: float
) -> None:
    """Of each event that waits: its age, and how much longer it would have taken."""
    events = [EventLatency(None, 0, seconds, is_emitted=True) for seconds in left]
    events += [EventLatency(None, 0, age, is_emitted=False) for age, _ in waiting]
    found = Latencies(tuple(events)).percentile(percent)
    if not events:
        assert found is None
        return
    assert found is not None
    true = sorted([*left, *(age + more for age, more in waiting)])[math.ceil(percent / 100 * len(events)) - 1]
    assert found.at_least_s <= true or true == pytest.approx(found.at_least_s)
    if found.at_most_s is not None:
        assert found.at_most_s >= true


RISING: TimeSeries = ((0, 2), (30, 5), (60, 8), (90, 11), (120, 14))


@pytest.mark.parametrize(("of", "value"), [("last", 14), ("highest", 14), ("lowest", 2), ("mean", 8), ("slope", 6)])
def test_one_number_of_a_course(of: Of, value: float) -> None:
    assert figure(RISING, of) == pytest.approx(value)
    assert figure((), of) is None


def test_few_points_have_no_slope_and_both_ends_belong_to_a_part() -> None:
    assert figure(RISING[:4], "slope") is None
    assert figure(((1, 2),) * 9, "slope") is None
    assert between(RISING, 30, 90) == ((30, 5), (60, 8), (90, 11))


@given(st.floats(-1e6, 1e6), st.floats(-1e3, 1e3), st.lists(st.integers(0, 999), min_size=5, max_size=50, unique=True))
def test_the_slope_of_a_line_is_the_lines(begin: float, a_second: float, times: list[int]) -> None:
    line = tuple((float(at_s), begin + a_second * at_s) for at_s in times)
    assert figure(line, "slope") == pytest.approx(60 * a_second, abs=0.01)


def test_what_has_begun_and_not_ended_waits() -> None:
    spans = [(1.0, 3.0), (2.0, None), (2.5, 2.75)]
    assert waiting(spans, [0, 1, 2, 2.5, 3, 9]) == ((0, 0), (1, 1), (2, 2), (2.5, 3), (3, 1), (9, 1))


ONE = ChangedValue(place="arms.fixed.batch.max_offsets", before=None, value=100)
OTHER = ChangedValue(place="traffic.rate", before="20/s", value="40/s")


def test_every_change_is_told_with_what_the_file_says() -> None:
    assert not_as_shipped([]) == ""
    assert not_as_shipped([ONE, OTHER]) == (
        "not the file as it is: arms.fixed.batch.max_offsets: not set → 100; traffic.rate: 20/s → 40/s"
    )


def test_lag_is_what_is_published_and_not_committed() -> None:
    assert (A_SAMPLE.source_end, A_SAMPLE.committed, A_SAMPLE.lag) == (161, 160, 1)
