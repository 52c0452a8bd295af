"""Killed between any two steps, producer or consumer, a store has the last revisions in the end."""

from collections import Counter
from contextlib import suppress
from itertools import chain
from typing import Any

import pyoxigraph
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pipeline.apply.chunk_record import ChunkRecord
from pipeline.apply.mutation_store import MutationStore
from pipeline.rdf.triples import Triple
from pipeline.records.record import Record
from tests.unit.pipeline.apply.fake_parts import (
    FakeTopic,
    KilledError,
    Step,
    StoreTarget,
    applier_of,
    apply_until_idle,
    operation_records,
    place_records,
)
from tests.unit.pipeline.apply.histories import History, histories, may_stay
from tests.unit.pipeline.apply.mutations import TOPIC, triples_in
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES

CHARACTERS = 130
"""A chunk has one or two triples."""
STEPS: list[Step] = ["read", "before", "after"]
STEPS_WITHOUT_TRANSACTIONS: list[Step] = [*STEPS, "half"]


@st.composite
def topics(draw: st.DrawFn, history: History) -> list[ChunkRecord]:
    """One task of the producer has the operations of each entity. It is killed once, between any two records, and
    begins again at that operation or an earlier one; the tasks' records interleave.
    """
    queues: dict[str, list[list[Record]]] = {}
    seqs = Counter[str]()
    for mutation in history.mutations:
        seqs[mutation.entity] += 1
        records = operation_records(
            mutation.entity, mutation.op, seqs[mutation.entity], mutation.diff, characters=CHARACTERS
        )
        queues.setdefault(mutation.entity, []).append(records)
    tasks = []
    for operations in queues.values():
        killed = draw(st.integers(0, len(operations) - 1))
        again = draw(st.integers(0, killed))
        prefix = draw(st.integers(0, len(operations[killed])))
        tasks.append([*chain(*operations[:killed]), *operations[killed][:prefix], *chain(*operations[again:])])
    interleaved = []
    while remaining := [task for task in tasks if task]:
        interleaved.append(draw(st.sampled_from(remaining)).pop(0))
    return place_records(interleaved)


@pytest.mark.parametrize(
    "policies",
    [
        {},
        {"batch_triples": 4, "delete_weight": 2},
        {"batch_triples": 1},
        {"batch_triples": 6, "delete_weight": 2, "atomic": False},
        {"batch_triples": 6, "delete_weight": 2, "offset": "kafka"},
        {"count": "probe"},
    ],
    ids=str,
)
@settings(deadline=None, max_examples=60)
@given(history=histories(), poll_size=st.integers(1, 12), data=st.data())
def test_the_store_has_the_last_revisions_wherever_processes_are_killed(
    policies: dict[str, Any], history: History, poll_size: int, data: st.DataObject
) -> None:
    """Without transactions as well, where `atomic: false` says so; with the offset in Kafka as long as no store is
    restored.
    """
    steps = STEPS if policies.get("atomic", True) else STEPS_WITHOUT_TRANSACTIONS
    kills = data.draw(st.lists(st.sampled_from(steps), max_size=4))
    records = data.draw(topics(history))
    store = pyoxigraph.Store()
    read_to = committed = 0
    for step in [*kills, None]:
        target = StoreTarget(store)
        number = data.draw(st.integers(0, 30 if step == "read" else 4))
        if step in ("before", "half", "after"):
            target = StoreTarget(store, number, step, half=data.draw(st.integers(0, 8)))
        in_store = MutationStore(target, NAMESPACES, TOPIC).next_offset()
        start = committed if policies.get("offset") == "kafka" else in_store or 0
        assert start <= read_to
        end_at_start = data.draw(st.integers(read_to, len(records)))
        topic = FakeTopic(records, poll_size=poll_size, killed_at=start + number if step == "read" else None)
        applier = applier_of(topic, target, start=start, replay_end=end_at_start, **policies)
        with suppress(KilledError):
            apply_until_idle(applier)
        read_to = max(read_to, topic.position)
        committed = max([committed, *topic.committed])
    expected = set[Triple]().union(*history.revisions.values())
    triples = triples_in(store)
    assert expected - triples == set()
    assert {triple for triple in triples - expected if not may_stay(triple)} == set()


@settings(deadline=None, max_examples=60)
@given(history=histories(), poll_size=st.integers(1, 12), data=st.data())
def test_the_next_offset_in_the_store_never_goes_back_and_ends_behind_the_last_record(
    history: History, poll_size: int, data: st.DataObject
) -> None:
    records = data.draw(topics(history))
    target = StoreTarget(pyoxigraph.Store())
    applier = applier_of(FakeTopic(records, poll_size=poll_size), target, batch_triples=4)
    offsets = []
    applied = target.update

    def update(text: str) -> None:
        applied(text)
        offsets.append(MutationStore(target, NAMESPACES, TOPIC).next_offset())

    target.update = update  # type: ignore[method-assign]
    apply_until_idle(applier)
    assert offsets == sorted(offset for offset in offsets if offset is not None)
    assert applier.next_offset == len(records)
