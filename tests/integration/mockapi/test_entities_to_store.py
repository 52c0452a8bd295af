"""Operations on the mock's entities, through rdf-resolve and its client, into a store: its triples are the entities'.

What they must be is read from the mock as N-Triples and munged; the store gets mutations alone.
"""

import asyncio
import random
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import pyoxigraph
import pytest

from pipeline.apply.accumulate import MutationBatch
from pipeline.apply.patch import NEXT_OFFSET, StorePosition, write_update
from pipeline.apply.reassemble import Mutation, Reassembler
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.fetch.client import WikiClient
from pipeline.jobs.enrichment import Enrichment
from pipeline.jobs.message import SourceMessage
from pipeline.jobs.registry import JOBS
from pipeline.rdf.concept_namespaces import ConceptNamespaces
from pipeline.rdf.munge import munge
from pipeline.rdf.mutation import read_chunk
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import is_shared
from pipeline.rdf.triples import parse_triples, split_terms
from pipeline.records.claim_check import ClaimStore
from pipeline.records.record import Position, Record
from tests.integration.mockapi.conftest import Mock

ROOMS = ("pipeline/apply", "pipeline/jobs", "pipeline/rdf", "mockapi/wiki")
DT = "2026-03-02T09:00:00Z"
NAMESPACES = ConceptNamespaces("http://www.wikidata.org")
ENTITIES = {"Q42": 1, "Q64": 2, "Q5": 3}
"""Page ids by entity; the last one becomes a redirect."""
REVISIONS = 4
REDIRECT = '{"entity": "Q5", "redirect": "Q42"}'


def rev_of(entity: str, number: int) -> int:
    return ENTITIES[entity] * 4096 + number


def page(entity: str) -> dict[str, Any]:
    revisions = [
        {
            "rev_id": rev_of(entity, number),
            "parent_id": rev_of(entity, number - 1) if number > 1 else 0,
            "timestamp": f"2026-03-02T08:0{number}:00Z",
            "text": REDIRECT if (entity, number) == ("Q5", REVISIONS) else None,
        }
        for number in range(1, REVISIONS + 1)
    ]
    return {
        "wiki": "wikidatawiki",
        "domain": "www.wikidata.org",
        "namespace_id": 0,
        "content_model": "wikibase-item",
        "page_id": ENTITIES[entity],
        "title": entity,
        "revisions": revisions,
    }


def operation(entity: str, op: Op, number: int, seq: int) -> Operation:
    from_rev = rev_of(entity, number - 1) if op == "diff" else None
    return Operation(entity, op, rev_of(entity, number), from_rev, DT, seq, (Position("revision-create", 0, seq),))


def resolve(mock: Mock, operations: Sequence[Operation]) -> list[Record]:
    """The records of all operations, one after the other."""
    config = PipelineConfig.model_validate(
        {
            "job": "rdf-resolve",
            "source": {"bootstrap_servers": "127.0.0.1:1"},
            "sink": {"bootstrap_servers": "127.0.0.1:1"},
            "mediawiki": {
                "endpoint": f"http://127.0.0.1:{mock.port}",
                "wikis": {"wikidatawiki": "www.wikidata.org"},
            },
            "checkpoint": "unused",
            "rdf": {"chunk_characters": 20_000},
        }
    )

    async def run() -> list[Record]:
        client = WikiClient(config, clock=time.monotonic, now=lambda: datetime.now(UTC), jitter=random.Random(1))
        job = Enrichment(config, JOBS["rdf-resolve"](config, client), client, ClaimStore(config.claim_check))
        records: list[Record] = []
        for offset, wanted in enumerate(operations):
            message = SourceMessage(Position("operations", 0, offset), wanted.key, wanted.value(), datetime.now(UTC))
            outcome = await job.process(message, limit_s=30)
            assert isinstance(outcome, Record), outcome
            assert outcome.topic == config.sink.topic, outcome.value
            records += outcome.all
        await job.close()
        return records

    return asyncio.run(run())


def apply_records(records: Sequence[Record]) -> pyoxigraph.Store:
    store, reassembler = pyoxigraph.Store(), Reassembler()
    chunks = (read_chunk(record.value, record.headers, offset=offset) for offset, record in enumerate(records))
    for mutation in filter(None, map(reassembler.add, chunks)):
        batch = MutationBatch()
        batch.add(cast(Mutation, mutation))
        assert batch.next_offset is not None
        store.update(write_update(batch.patch(), StorePosition("mutations", 0, batch.next_offset), NAMESPACES))
    return store


def triples_in(store: pyoxigraph.Store) -> set[str]:
    text = store.dump(format=pyoxigraph.RdfFormat.N_TRIPLES, from_graph=pyoxigraph.DefaultGraph())
    assert text is not None
    return {line for line in text.decode().split("\n")[:-1] if split_terms(line)[1] != NEXT_OFFSET}


def owned(triples: set[str]) -> set[str]:
    """Those of entities and statements; references, values and sitelinks stay, as another entity may have them."""
    nodes = f"<{NAMESPACES.base}/"
    return {triple for triple in triples if triple.startswith(nodes) and not is_shared(triple, NAMESPACES)}


def truth(mock: Mock, entity: str) -> set[str]:
    """The munged triples of an entity's last revision, as a store writes them."""
    path = f"/wiki/Special:EntityData/{entity}.nt?flavor=dump&revision={rev_of(entity, REVISIONS)}"
    answer = mock.ask(path, headers={"Host": "www.wikidata.org"})
    assert answer.status == 200, answer.body
    store = pyoxigraph.Store()
    munged = munge(parse_triples(answer.body, source=entity), entity, NAMESPACES)
    store.load("\n".join(munged).encode(), format=pyoxigraph.RdfFormat.N_TRIPLES)
    return triples_in(store)


@pytest.fixture
def mock(start_mock: Callable[..., Mock], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mock:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # where last revisions are kept
    mock = start_mock()
    answer = mock.ask("/__mock/state", method="PUT", body={"seed": 9, "catalog": [page(entity) for entity in ENTITIES]})
    assert answer.status == 200, answer.body
    return mock


def test_the_store_has_what_the_entities_are(mock: Mock) -> None:
    operations = [
        operation(entity, "import" if number == 1 else "diff", number, seq=number)
        for number in range(1, REVISIONS + 1)
        for entity in ENTITIES
    ]
    records = resolve(mock, operations)
    assert len(records) > len(operations), "some mutations take several records"
    in_store = triples_in(apply_records(records))
    expected = {entity: truth(mock, entity) for entity in ENTITIES}
    assert set().union(*expected.values()) - in_store == set()
    assert owned(in_store) - set().union(*expected.values()) == set()
    redirect = " ".join(
        (NAMESPACES.entity_node("Q5"), "<http://www.w3.org/2002/07/owl#sameAs>", NAMESPACES.entity_node("Q42"), ".")
    )
    assert redirect in in_store


def test_a_deleted_entity_leaves_nothing_of_its_own(mock: Mock) -> None:
    operations = [operation("Q64", "import", 1, seq=1), operation("Q64", "delete", 1, seq=2)]
    in_store = triples_in(apply_records(resolve(mock, operations)))
    assert owned(in_store) == set()


def test_reconciliation_puts_right_what_a_store_missed(mock: Mock) -> None:
    missed = [operation("Q42", "import", 1, seq=1), operation("Q42", "diff", 4, seq=2)]
    wrong = triples_in(apply_records(resolve(mock, missed)))
    assert truth(mock, "Q42") - wrong != set(), "two revisions are missing in between"
    right = triples_in(apply_records(resolve(mock, [*missed, operation("Q42", "reconcile", 4, seq=3)])))
    assert truth(mock, "Q42") - right == set()
    assert owned(right) - truth(mock, "Q42") == set()
