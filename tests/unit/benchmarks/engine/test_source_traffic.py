from collections import Counter
from datetime import timedelta

import pytest

from benchmarks.engine.operations import Operations, find_seed, size_of
from benchmarks.engine.source_traffic import SourceTraffic, backlog_traffic, paced_traffic
from benchmarks.engine.updater_live import outage_figures
from devkit.event_bus.wikibase_record import WIKIBASE_TOPICS


@pytest.mark.parametrize(
    ("source", "count", "topics"),
    [
        (paced_traffic(20, timedelta(seconds=15), 3), 300, 4),
        # Canaries of ten seconds and those behind everything, in all topics.
        (backlog_traffic(50, 500, 3), 500 + 11 * len(WIKIBASE_TOPICS), 8),
    ],
)
def test_events_and_their_topics(source: SourceTraffic, count: int, topics: int) -> None:
    written = set(source.traffic.further_topics)
    assert (source.traffic.count, written <= set(WIKIBASE_TOPICS)) == (count, True)
    assert 1 <= len(written) <= topics
    assert len(written) == topics or topics == 4


def test_events_have_entities_in_the_shares_of_the_sizes() -> None:
    source = paced_traffic(50, timedelta(seconds=20), 3)
    sizes = Counter(size_of(page, source.mock_seed) for page in source.catalog)
    assert sizes["50"] / sizes.total() == pytest.approx(0.9, abs=0.01)
    assert sizes["5000"] == 1


@pytest.mark.parametrize(
    ("rate", "hours", "arriving"), [(100.0, 12.0, 24.0), (60.0, 20.0, 120.0), (50.0, 24.0, None), (25.0, 48.0, None)]
)
def test_a_day_is_extrapolated_from_the_rate(rate: float, hours: float, arriving: float | None) -> None:
    figures = outage_figures(rate, 50)
    assert figures == {"events": 4_320_000, "hours": hours, "hours_while_events_arrive": arriving}


def test_operations_have_entities_in_the_shares_of_the_sizes() -> None:
    work = Operations(1_000, 3)
    sizes = Counter(size_of(page, work.mock_seed) for page in work.catalog)
    assert (work.count, sizes) == (1_000, {"50": 90, "500": 9, "5000": 1})
    assert work.mock_seed >= 3


def test_a_share_that_is_less_than_an_entity_has_none() -> None:
    work = Operations(10, 1)
    assert Counter(size_of(page, find_seed(work.catalog, 1)) for page in work.catalog) == {"50": 9, "500": 1}
