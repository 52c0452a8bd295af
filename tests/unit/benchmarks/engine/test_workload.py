"""The events that all contestants get, and the source events that the updater gets."""

from collections import Counter
from datetime import timedelta

import pytest

from benchmarks.engine.operations import Operations, find_seed, size_of
from benchmarks.engine.source_traffic import SourceTraffic, backlog_traffic, paced_traffic
from benchmarks.engine.updater_live import outage_figures
from benchmarks.engine.workload import PARTITIONS, Histories, Workload
from devkit.event_bus.wikibase_record import WIKIBASE_TOPICS
from pipeline.records.page_change import parse


def test_events_are_edits_of_the_pages_that_the_mock_has() -> None:
    workload = Workload(24, pages=12)
    pages = {page.page_id: [revision.rev_id for revision in page.revisions] for page in workload.catalog()}
    for event in workload.events():
        change = parse(event.value, "0/0/0")
        assert change.kind == "edit"
        assert change.event_id == event.event_id
        assert (change.rev_id, change.parent_id) == workload.revisions[event.page]
        assert {change.rev_id, change.parent_id} <= set(pages[change.page_id])


def test_all_have_ids_of_their_own_and_a_page_one_partition() -> None:
    workload = Workload(36, pages=12)
    events = list(workload.events())
    assert len({event.event_id for event in events}) == 36
    partitions = {(event.key, event.partition) for event in events}
    assert len(partitions) == 12
    assert {partition for _, partition in partitions} == set(range(PARTITIONS))


def test_equal_numbers_give_equal_bytes() -> None:
    assert list(Workload(8, pages=4).events()) == list(Workload(8, pages=4).events())


def test_slow_pages_take_their_time_and_the_others_do_not() -> None:
    workload = Workload(0, pages=200)
    slow = workload.slow_pages(0.01)
    assert len(slow) == 2
    usual, rule = workload.rules(slow=slow, slow_latency="40s")
    assert usual.when.revision is None
    assert set(rule.when.revision or ()) == {workload.revisions[page][0] for page in slow}


def test_an_event_of_a_history_continues_the_last_of_its_page() -> None:
    workload = Histories(200, first_seen=0.3)
    known = {revision.rev_id for page in workload.catalog() for revision in page.revisions}
    last: dict[int, int] = {}
    for event, revisions in zip(workload.events(), workload.revisions, strict=True):
        change = parse(event.value, "0/0/0")
        assert (change.rev_id, change.parent_id) == revisions
        assert {*revisions} <= known
        assert last.get(change.page_id) in (None, change.parent_id)
        last[change.page_id] = change.rev_id
    assert len(last) == 60


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
