"""What rdf-decide must make of source events where it goes on from a dump, beside what the pipeline makes of them."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from devkit.observe.audit.audit import DeliveryAudit
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.expected_output.decide_truth import BEFORE_THE_DUMP, DecideTruth
from devkit.observe.expected_output.truth import LoadedOutputs, WikiAnswers
from devkit.observe.store_difference import EntityTruth
from devkit.observe.wikibase.store_comparison import compare_store
from devkit.observe.wikibase.store_loading import load_store
from devkit.traffic.records import DumpedEntities
from pipeline.rdf.operation import Operation
from pipeline.updater.reorder import EntityState, Outcome, ReorderRules, accept, release
from tests.unit.devkit.observe.expected_output.test_decide_truth import (
    CONFIG,
    FAR_MS,
    OPERATIONS,
    WINDOW_MS,
    arrivals,
    body,
    described,
    parsed,
    place,
    published,
)
from tests.unit.devkit.observe.memory_store import MemoryStore

KEYS: dict[str, Any] = {
    "for": "6s",
    "dump": {"begins": "1s", "takes": "3s"},
    "mix": {"create": 0.1, "delete": 0.2, "undelete": 0.15, "merge": 0.1, "not_json": 0, "not_schema": 0},
    "wikibase_topics": {},
}


@dataclass(frozen=True)
class Dumped:
    dump: DumpedEntities
    truth: DecideTruth
    events: list[SourceEvent]

    def decide(self, since: datetime) -> list[Outcome]:
        """By the pipeline's modules, of the events that were received at that time or later."""
        rules = ReorderRules(WINDOW_MS)
        rows = defaultdict(list)
        for event in self.events:
            if datetime.fromisoformat(orjson.loads(event.value)["meta"]["dt"]) >= since:
                source = parsed(event)
                if source is not None:
                    rows[source.entity].append(source)
        outcomes: list[Outcome] = []
        for entity, of_entity in rows.items():
            state = EntityState(last=self.dump.revisions.get(entity, 0))
            accepted = accept(state, of_entity, 0, rules)
            outcomes += (*accepted.outcomes, *release(accepted.state, FAR_MS, rules).outcomes)
        return outcomes

    def stored(self, since: datetime) -> dict[str, int | None]:
        """The revision that a store comes to have of each entity."""
        store: dict[str, int | None] = {**self.dump.revisions}
        for outcome in self.decide(since):
            if isinstance(outcome, Operation):
                store[outcome.entity] = None if outcome.op == "delete" else outcome.rev
        return store


def dumped(seed: int) -> Dumped:
    made = published(seed, **KEYS)
    assert made.traffic.dump is not None
    wiki = WikiAnswers(html=lambda *_: "", body=body, dump=made.traffic.dump)
    return Dumped(made.traffic.dump, DecideTruth(CONFIG, wiki), made.events)


def as_it_should_be(made: Dumped) -> dict[str, frozenset[Any]]:
    return {truth.entity: truth.triples for truth in made.truth.stored(made.events)}


def with_triples(made: Dumped, revisions: dict[str, int | None]) -> dict[str, frozenset[Any]]:
    triples = made.truth._triples
    return {entity: frozenset() if rev is None else triples(entity, rev) for entity, rev in revisions.items()}


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_each_event_is_what_the_job_makes_of_it(seed: int) -> None:
    made = dumped(seed)
    expected = {event.position: event.entry.expected for event in made.truth.fates(made.events)}
    outcomes = made.decide(made.dump.begun)
    assert {place(outcome) for outcome in outcomes} == {
        position for position, it in expected.items() if it.fate != "filtered"
    }
    for outcome in outcomes:
        what, from_rev = described(outcome)
        due = expected[place(outcome)]
        if what != due.may_end_in:
            assert (what in ("import", "diff", "delete")) is (due.fate == "output")
            assert (due.reason, due.parent_revision) == (None if due.fate == "output" else what, from_rev)


@settings(max_examples=8, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_a_store_is_right_from_the_dumps_beginning_on(seed: int) -> None:
    made = dumped(seed)
    found, expected = with_triples(made, made.stored(made.dump.begun)), as_it_should_be(made)
    assert {entity for entity, triples in expected.items() if triples != found.get(entity, frozenset())} == set()


def test_from_its_end_on_it_is_wrong_for_good() -> None:
    made = dumped(3)
    found, expected = with_triples(made, made.stored(made.dump.ended)), as_it_should_be(made)
    assert len([entity for entity, triples in expected.items() if triples != found.get(entity, frozenset())]) > 1


def test_events_before_the_dump_are_not_read() -> None:
    made = dumped(3)
    reasons = Counter(event.entry.expected.reason for event in made.truth.fates(made.events))
    assert reasons[BEFORE_THE_DUMP] > 10
    assert reasons["newer_revision_seen"] > 10


def test_a_store_is_loaded_with_the_dump() -> None:
    made, store = dumped(3), MemoryStore()
    assert isinstance(made.truth, LoadedOutputs)
    loaded = [*made.truth.loaded()]
    assert [truth.entity for truth in loaded] == [*made.dump.revisions]
    load_store(store, loaded)
    assert not compare_store(store, loaded).differing
    assert compare_store(store, [EntityTruth("Q1", frozenset()), *made.truth.stored(made.events)]).differing


@pytest.mark.parametrize("graph", [None, "http://wiki/graph"])
def test_a_store_is_loaded_into_its_graph(graph: str | None) -> None:
    made, store = dumped(3), MemoryStore()
    loaded = [*made.truth.loaded()][:3]
    load_store(store, loaded, graph)
    assert not compare_store(store, loaded, graph).differing
    if graph is not None:
        assert len(compare_store(store, loaded).differing) == 3


def test_the_audit_of_a_right_job_is_clean() -> None:
    made = dumped(3)
    held = DeliveryAudit(made.events, truth=made.truth, resolve=lambda _: b"")
    for record in arrivals(made.decide(made.dump.begun)):
        (held.add_output if record.topic == OPERATIONS else held.add_error)(record)
    figures = held.finish({event.partition: 10**6 for event in made.events})
    assert not figures.examples
    assert figures.outputs + figures.errors + figures.filtered == figures.inputs
