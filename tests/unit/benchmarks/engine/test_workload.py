"""The events that all contestants get."""

from benchmarks.engine.workload import PARTITIONS, Histories, Workload
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
