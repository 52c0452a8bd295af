"""Requests to a real store: one that is killed and restored meanwhile, requests that come late, and two processes that
apply one topic to it.
"""

import json
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import repeat

import pytest

from pipeline.apply.accumulate import Patch
from pipeline.apply.mutation_store import Divergence, MutationStore, StoreMovedError
from pipeline.apply.sparql_target import Row, SparqlTarget
from pipeline.errors import RefusedError
from pipeline.rdf.triples import Triple
from tests.oxigraph_server import OxigraphServer
from tests.unit.pipeline.apply.fake_parts import FakeTopic, applier_of, apply_until_idle, place_records, settings_of
from tests.unit.pipeline.apply.mutations import TOPIC
from tests.unit.pipeline.apply.test_applier import (
    CHANGE_STATEMENT,
    DELETE_Q1,
    DELETE_STATEMENT,
    IMPORT_Q1,
    IMPORT_Q2,
    IMPORT_STATEMENT,
    MORE_OF_Q2,
    OF_Q2,
    TO_B,
    TO_C,
    TWO_Q3,
    A,
    B,
    C,
)
from tests.unit.pipeline.apply.test_late_requests import OF_Q3, is_fenced
from tests.unit.pipeline.apply.test_sparql_target import target_of
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES, triples_of

ROOMS = ("pipeline/apply",)

GRAPH = "http://e.org/graph"


def store_of(target: SparqlTarget, graph: str | None = None) -> MutationStore:
    return MutationStore(target, NAMESPACES, TOPIC, graph=graph)


@pytest.mark.parametrize("graph", [None, GRAPH])
def test_a_store_has_triples_and_offset(server: OxigraphServer, graph: str | None) -> None:
    store = store_of(target_of(server.update_url), graph)
    assert store.next_offset() is None
    store.write_offset(5)
    assert store.next_offset() == 5
    store.apply(Patch(inserted=tuple(triples_of(A + B))), 7)
    store.apply_triples(Patch(deleted=tuple(triples_of(A)), inserted=tuple(triples_of(C))))
    assert store.next_offset() == 7
    assert store.measure_divergence(triples_of(A + B), triples_of(B + C)) == Divergence(4, 1, 2)
    assert store.measure_divergence([], triples_of(A)) == Divergence(1, 0, 0)
    other = store_of(target_of(server.update_url), None if graph else GRAPH)
    assert (other.next_offset(), other.measure_divergence(triples_of(B), [])) == (None, Divergence(1, 1, 0))


@pytest.mark.parametrize("graph", [None, GRAPH])
def test_a_store_of_another_concept_base_alone_has_that(server: OxigraphServer, graph: str | None) -> None:
    store = store_of(target_of(server.update_url), graph)
    assert store.other_concept_base() is None
    other = "<https://wiki.example/entity/Q1> <http://schema.org/version> 1 ."
    store.apply_triples(Patch(inserted=tuple(triples_of(other))))
    assert store.other_concept_base() == "https://wiki.example"
    store.apply_triples(Patch(inserted=tuple(triples_of("wd:Q2 schema:version 1 ."))))
    assert store.other_concept_base() is None


def test_a_store_with_two_offsets_is_refused(server: OxigraphServer) -> None:
    target = target_of(server.update_url)
    store = store_of(target)
    store.write_offset(5)
    node = f"<urn:enrichment:mutations:{TOPIC}:0> <urn:enrichment:next-offset>"
    target.update(f"INSERT DATA {{ {node} 6 }}")
    with pytest.raises(RefusedError, match=r"no single next offset of topic rdf\.mutation, but 5, 6"):
        store.next_offset()
    target.update(f"DELETE WHERE {{ {node} ?offset }}; INSERT DATA {{ {node} 'x' }}")
    with pytest.raises(RefusedError, match="but x"):
        store.next_offset()


def test_mutations_reach_a_store_that_is_killed_meanwhile(server: OxigraphServer) -> None:
    """Its answer is missing before, and it is asked again until it is there; nothing is skipped."""
    waits = []

    def restart(seconds: float) -> bool:
        waits.append(seconds)
        if len(waits) == 3:
            server.start()
        return True

    target = target_of(server.update_url, restart)
    store_of(target).write_offset(0)
    records = place_records([*IMPORT_Q1, *TO_B, *IMPORT_Q2])
    topic = FakeTopic(records, end=1)
    applier = applier_of(topic, target)
    apply_until_idle(applier)
    server.kill()
    assert applier.next_offset == 1
    topic.end, topic.is_idle = None, False
    apply_until_idle(applier)
    store = store_of(target)
    assert waits == [0.5, 1.0, 2.0]
    assert (store.next_offset(), target.is_down) == (4, False)
    assert store.measure_divergence(triples_of(B), triples_of(A)) == Divergence(2, 0, 0)


def test_a_server_that_comes_back_with_an_older_copy_is_brought_up_to_date(
    server: OxigraphServer, capsys: pytest.CaptureFixture[str]
) -> None:
    data, copy = server.directory / "data", server.directory / "copy"

    def restore(_seconds: float) -> bool:
        shutil.rmtree(data)
        copy.rename(data)
        server.start()
        return True

    target = target_of(server.update_url, restore)
    store = store_of(target)
    store.write_offset(0)
    topic = FakeTopic(place_records([*IMPORT_Q1, *TO_B, *TO_C]), end=1)
    applier = applier_of(topic, target)
    apply_until_idle(applier)
    server.kill()
    shutil.copytree(data, copy)
    server.start()
    for end in (2, 3):
        topic.end, topic.is_idle = end, False
        apply_until_idle(applier)
        if end == 2:
            server.kill()
    assert (store.next_offset(), store.measure_divergence(triples_of(C), triples_of(A + B))) == (3, Divergence(3, 0, 0))
    events = [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()]
    assert [event for event in events if "store" in event] == [
        "triple_store_down",
        "triple_store_back",
        "store_rewound",
    ]


@pytest.mark.parametrize("graph", [None, GRAPH])
def test_a_restart_writes_nothing_to_an_entity_that_is_gone(server: OxigraphServer, graph: str | None) -> None:
    """Each mutation is a request. An open chunk holds the next offset back, and then the producer writes the diff of
    the deleted entity again.
    """
    target = target_of(server.update_url)
    store = store_of(target, graph)
    store.write_offset(0)
    first = [*IMPORT_STATEMENT, *IMPORT_Q2[:1], *CHANGE_STATEMENT, *DELETE_STATEMENT]
    records = place_records([*first, *CHANGE_STATEMENT, *DELETE_STATEMENT, *TWO_Q3])
    for end in (len(first), len(records)):
        store.adopt()
        topic = FakeTopic(records, end=end)
        apply_until_idle(applier_of(topic, target, start=store.adopt() or 0, graph=graph, batch_triples=1))
    assert (store.adopt(), store.applied_offset) == (1, len(records))
    assert store.revisions(["Q1", "Q2", "Q3"]) == {"Q3": 0}
    position, triples = 3, 2
    (row,) = target.select("SELECT (COUNT(*) AS ?count) { { ?s ?p ?o } UNION { GRAPH ?g { ?s ?p ?o } } }")
    assert int(row["count"]) == position + triples


@dataclass
class RecordingTarget:
    """A real one; `updates` has what was sent."""

    target: SparqlTarget
    updates: list[str] = field(default_factory=list)

    def update(self, text: str) -> None:
        self.updates.append(text)
        self.target.update(text)

    def select(self, text: str) -> list[Row]:
        return self.target.select(text)


def real_target(server: OxigraphServer) -> RecordingTarget:
    return RecordingTarget(SparqlTarget(settings_of(endpoint=server.update_url, timeout="20s"), lambda _: False))


@pytest.mark.parametrize("atomic", [True, False])
@pytest.mark.parametrize("graph", [None, "http://e.org/graph"])
def test_a_real_store_executes_each_request_once(server: OxigraphServer, graph: str | None, atomic: bool) -> None:
    """All requests so far come again behind each one, the last one first."""
    target = real_target(server)
    store = MutationStore(target, NAMESPACES, TOPIC, graph=graph, atomic=atomic)
    store.write_offset(0)
    patches = [
        Patch(inserted=tuple(triples_of(A + OF_Q3))),
        Patch(deleted=tuple(triples_of(A)), inserted=tuple(triples_of(B))),
        Patch(cleared=("Q1",), inserted=tuple(triples_of(C))),
        Patch(cleared=("Q1", "Q3")),
        Patch(inserted=tuple(triples_of(A))),
    ]
    for patch, present in zip(patches, (A + OF_Q3, B + OF_Q3, C + OF_Q3, "", A), strict=True):
        store.apply(patch, 5)
        for text in reversed(target.updates):
            target.target.update(text)
        store.confirm()
        there = triples_of(present)
        gone = [triple for triple in triples_of(A + B + C + OF_Q3) if triple not in there]
        assert store.measure_divergence(there, gone) == Divergence(4, 0, 0)


@pytest.mark.parametrize("atomic", [True, False])
def test_requests_that_reach_a_real_store_at_once_are_told_apart(server: OxigraphServer, atomic: bool) -> None:
    stores = [MutationStore(real_target(server), NAMESPACES, TOPIC, atomic=atomic) for _ in range(4)]
    stores[0].write_offset(0)
    for attempt in range(20):
        texts = [f'wd:Q1 wdt:P1 "{attempt} {number}" .' for number in range(len(stores))]
        written = [tuple(triples_of(text)) for text in texts]
        for store in stores:
            store.adopt()
        with ThreadPoolExecutor(len(stores)) as threads:
            barrier = threading.Barrier(len(stores))

            def apply(
                store: MutationStore, triples: tuple[Triple, ...], attempt: int, barrier: threading.Barrier
            ) -> None:
                barrier.wait()
                store.apply(Patch(cleared=("Q1",), inserted=triples), attempt + 1)

            list(threads.map(apply, stores, written, repeat(attempt), repeat(barrier)))
        took_effect = [has_effect(store) for store in stores]
        assert took_effect.count(True) <= 1
        if True in took_effect:
            there = written[took_effect.index(True)]
            gone = [triple for triples in written for triple in triples if triples != there]
            assert stores[0].measure_divergence(there, gone) == Divergence(4, 0, 0)
        assert stores[0].next_offset() == (attempt + 1 if True in took_effect else attempt)
        stores[0].adopt()
        stores[0].write_offset(attempt + 1)


def has_effect(store: MutationStore) -> bool:
    try:
        store.confirm()
    except StoreMovedError as error:
        return not error.is_foreign
    return True


def test_two_processes_on_a_real_store_do_not_both_go_on(server: OxigraphServer) -> None:
    """Both have adopted the same position, and apply the same topic at the same time, a request for each mutation.
    One is refused, or both where their requests reach the store at the same moment; the next start puts that right.
    """
    records = place_records([*IMPORT_Q1, *TO_B, *TO_C, *IMPORT_Q2, *DELETE_Q1])
    MutationStore(real_target(server), NAMESPACES, TOPIC).write_offset(0)
    appliers = [applier_of(FakeTopic(records), real_target(server), batch_triples=1) for _ in range(2)]

    with ThreadPoolExecutor(2) as threads:
        fenced = list(threads.map(is_fenced, appliers))
    assert True in fenced
    if False not in fenced:
        again = applier_of(FakeTopic(records), real_target(server), start=0, replay_end=len(records))
        start = again.store.next_offset()
        assert start is not None
        again.store.write_offset(start)
        apply_until_idle(again)
    store = MutationStore(real_target(server), NAMESPACES, TOPIC)
    assert store.next_offset() == len(records)
    assert store.measure_divergence(triples_of(OF_Q2 + MORE_OF_Q2), triples_of(A + B + C)) == Divergence(5, 0, 0)
