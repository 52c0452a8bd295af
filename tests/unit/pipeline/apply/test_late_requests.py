"""A store that executes requests late, and two appliers of one topic: what is applied stays applied."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.apply.accumulate import Patch
from pipeline.apply.applier import Applier
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.patch import NEXT_OFFSET, position_node
from pipeline.apply.sparql_target import Row
from pipeline.errors import RefusedError
from pipeline.records.record import Record
from tests.unit.pipeline.apply.fake_parts import (
    FakeTopic,
    StoreTarget,
    applier_of,
    apply_until_idle,
    operation_records,
    place_records,
)
from tests.unit.pipeline.apply.histories import History, assert_last_revisions, histories
from tests.unit.pipeline.apply.mutations import TOPIC, triples_in
from tests.unit.pipeline.apply.test_applier import (
    IMPORT_Q1,
    TO_B,
    edit_records,
)
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES

OF_Q3 = 'wd:Q3 wdt:P1 "a" .'
IMPORT_Q3 = edit_records("Q3", 1, "", OF_Q3 + 'wd:Q3 wdt:P1 "b" .')
POLICIES: list[dict[str, Any]] = [
    {"batch_triples": 1},
    {"batch_triples": 6, "delete_weight": 2},
    {"batch_triples": 6, "delete_weight": 2, "atomic": False},
]


@dataclass
class LateTarget(StoreTarget):
    """Some answers do not come, and the request is sent again. What was sent is executed at any later moment: whole, or
    in the store without transactions operation by operation.
    """

    atomic: bool = True
    draw: Callable[[st.SearchStrategy[Any]], Any] = field(kw_only=True)
    pending: list[list[str]] = field(default_factory=list)
    """The operations that are left of each request."""

    def update(self, text: str) -> None:
        for _ in range(self.draw(st.integers(0, 2))):
            self.pending.append(self._split(text))
        for operation in self._split(text):
            self.execute_late()
            self.store.update(operation)
            self.updates.append(operation)
        self.execute_late()

    def select(self, text: str) -> list[Row]:
        self.execute_late()
        return super().select(text)

    def execute_late(self) -> None:
        while self.pending and self.draw(st.booleans()):
            self.execute_one(self.draw(st.integers(0, len(self.pending) - 1)))

    def execute_one(self, number: int) -> None:
        self.store.update(self.pending[number].pop(0))
        if not self.pending[number]:
            del self.pending[number]

    def _split(self, text: str) -> list[str]:
        return [text] if self.atomic else text.split(";\n")


def records_of(history: History) -> list[Record]:
    seqs = Counter[str]()
    records = []
    for mutation in history.mutations:
        seqs[mutation.entity] += 1
        records += operation_records(mutation.entity, mutation.op, seqs[mutation.entity], mutation.diff)
    return records


@pytest.mark.parametrize("policies", POLICIES, ids=str)
@settings(deadline=None, max_examples=40)
@given(history=histories(), open_first=st.booleans(), poll_size=st.integers(1, 8), data=st.data())
def test_a_request_that_is_executed_late_changes_nothing(
    policies: dict[str, Any], history: History, open_first: bool, poll_size: int, data: st.DataObject
) -> None:
    """Also where the next offset stays the same, as the beginning of another mutation is open."""
    target = LateTarget(pyoxigraph.Store(), atomic=policies.get("atomic", True), draw=data.draw)
    records = [*IMPORT_Q3[:1], *records_of(history)] if open_first else records_of(history)
    topic = FakeTopic(place_records(records), poll_size=poll_size)
    apply_until_idle(applier_of(topic, target, **policies))
    assert_last_revisions(target.store, history)
    while target.pending:
        target.execute_one(data.draw(st.integers(0, len(target.pending) - 1)))
    assert_last_revisions(target.store, history)


@dataclass
class OverlappedTarget(StoreTarget):
    """What a request changes is worked out when it is sent, and some of them come a second time, later."""

    draw: Callable[[st.SearchStrategy[Any]], Any] = field(kw_only=True)
    pending: list[tuple[set[pyoxigraph.Quad], set[pyoxigraph.Quad]]] = field(default_factory=list)

    def update(self, text: str) -> None:
        if self.draw(st.integers(0, 3)) == 0:
            copy = pyoxigraph.Store()
            copy.bulk_extend(self.store)
            copy.update(text)
            before, after = set(self.store), set(copy)
            written = {quad for quad in after if str(quad.subject) == position_node(TOPIC, 0)}
            self.pending.append((before - after, (after - before) | written))
        super().update(text)
        if self.pending and self.draw(st.booleans()):
            self.execute_one()

    def execute_one(self) -> None:
        removed, added = self.pending.pop(0)
        for quad in removed:
            self.store.remove(quad)
        self.store.extend(added)


@pytest.mark.parametrize("policies", POLICIES[:2], ids=str)
@settings(deadline=None, max_examples=60)
@given(history=histories(), poll_size=st.integers(1, 8), data=st.data())
def test_a_store_that_does_not_isolate_late_requests_is_put_right(
    policies: dict[str, Any], history: History, poll_size: int, data: st.DataObject
) -> None:
    target = OverlappedTarget(pyoxigraph.Store(), draw=data.draw)
    topic = FakeTopic(place_records(records_of(history)), poll_size=poll_size)
    applier = applier_of(topic, target, **policies)
    apply_until_idle(applier)
    while target.pending:
        target.execute_one()
        apply_until_idle(applier)
    assert_last_revisions(target.store, history)


@dataclass
class InterruptedTarget(StoreTarget):
    """`interrupt` is called before and after each update."""

    interrupt: Callable[[], None] = lambda: None

    def update(self, text: str) -> None:
        self.interrupt()
        super().update(text)
        self.interrupt()


@pytest.mark.parametrize("policies", POLICIES, ids=str)
@settings(deadline=None, max_examples=40)
@given(history=histories(), poll_sizes=st.tuples(st.integers(1, 8), st.integers(1, 8)), data=st.data())
def test_of_two_processes_the_one_that_started_last_goes_on(
    policies: dict[str, Any], history: History, poll_sizes: tuple[int, int], data: st.DataObject
) -> None:
    """The second one starts and reads on between any two requests of the first one, and ends after it."""
    records = place_records(records_of(history))
    target = InterruptedTarget(pyoxigraph.Store())
    topics = [FakeTopic(records, poll_size=size) for size in poll_sizes]
    first = applier_of(topics[0], target, **policies)
    second: Applier | None = None

    def start_second() -> Applier:
        plain = StoreTarget(target.store)
        start = MutationStore(plain, NAMESPACES, TOPIC).next_offset()
        assert start is not None
        applier = applier_of(topics[1], plain, start=start, replay_end=len(records), **policies)
        applier.store.write_offset(start)
        return applier

    def read_on(applier: Applier, end: int | None) -> None:
        topics[1].end, topics[1].is_idle = end, False
        apply_until_idle(applier)

    def interrupt() -> None:
        nonlocal second
        if second is None and data.draw(st.booleans()):
            second = start_second()
        if second is not None:
            read_on(second, min(len(records), topics[1].position + data.draw(st.integers(0, 2))))

    target.interrupt = interrupt
    was_fenced = is_fenced(first)
    assert was_fenced == (second is not None)
    read_on(second or start_second(), None)
    assert_last_revisions(target.store, history)


def is_fenced(applier: Applier) -> bool:
    """Applies all that the topic has; whether it was refused, as another process wrote to the store."""
    try:
        apply_until_idle(applier)
    except RefusedError as error:
        return "before another process wrote to it" in str(error)
    return False


def test_a_process_that_has_nothing_to_write_notices_another_one() -> None:
    store = pyoxigraph.Store()
    topic = FakeTopic(place_records([*IMPORT_Q1, *TO_B]), end=1)
    applier = applier_of(topic, StoreTarget(store))
    apply_until_idle(applier)
    other = MutationStore(StoreTarget(store), NAMESPACES, TOPIC)
    other.adopt()
    other.write_offset(1)
    steps = iter(range(12))
    with pytest.raises(RefusedError, match="is 1, and 1 was written before another process wrote to it"):
        applier.run(lambda: next(steps, None) is None)


def test_a_store_whose_position_stays_the_same_ends_the_process() -> None:
    """Its offset is a string, which the condition never matches."""
    store = pyoxigraph.Store()
    store.update(f"INSERT DATA {{ {position_node(TOPIC, 0)} {NEXT_OFFSET} '0' }}")
    with pytest.raises(RefusedError, match=r"answers that requests are executed, and its next offset .* stays 0"):
        apply_until_idle(applier_of(FakeTopic(place_records(IMPORT_Q1)), StoreTarget(store)))
    assert triples_in(store) == set()


def test_what_two_requests_at_once_have_touched_is_known_until_it_is_applied_again() -> None:
    stores = pyoxigraph.Store(), pyoxigraph.Store()
    MutationStore(StoreTarget(stores[0]), NAMESPACES, TOPIC).write_offset(0, 1)
    stores[1].bulk_extend(stores[0])
    for store, offsets in zip(stores, ((3, 5), (2, 4)), strict=True):
        writer = MutationStore(StoreTarget(store), NAMESPACES, TOPIC)
        writer.adopt()
        writer.apply(Patch(), *offsets)
    stores[0].extend(stores[1])
    seen = []
    for offsets in ((0, 1), (1, 3), (5, 5), (5, 5)):
        store = MutationStore(StoreTarget(stores[0]), NAMESPACES, TOPIC)
        seen.append((store.adopt(), store.applied_offset, store.torn_until))
        store.write_offset(*offsets)
    assert seen == [(0, 1, 5), (0, 1, 5), (1, 3, 5), (5, 5, 0)]


def test_a_store_that_is_written_to_meanwhile_is_not_begun() -> None:
    store = pyoxigraph.Store()
    first, second = (MutationStore(StoreTarget(store), NAMESPACES, TOPIC) for _ in range(2))
    assert (first.adopt(), second.adopt()) == (None, None)
    for next_offset in (0, 5):
        first.write_offset(next_offset)
        with pytest.raises(RefusedError, match="another process has written the next offset"):
            second.write_offset(7)
        assert (first.next_offset(), second.adopt()) == (next_offset, next_offset)
        first.adopt()
        first.write_offset(next_offset)
