"""docs/runbooks/store-diverges.md: something else deletes a triple of the store, which a mutation then misses.

The test takes the place of rdf-decide and rdf-resolve: it answers the event that the page writes. Checked beside what
the page shows: the event is one that rdf-decide can read, and the store has what the entity is at the end.
"""

from datetime import UTC, datetime

from devkit.observe.audit.arrivals import read_topic
from pipeline.jobs.message import SourceMessage
from pipeline.rdf.operation import Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position
from pipeline.updater.source_event import EntityPages, parse_source_event
from tests.integration.runbooks.apply_place import ENTITY, RECONCILES, statement
from tests.integration.runbooks.conftest import MakeApplyOperator

ROOMS = ("docs/runbooks", "pipeline/apply", "pipeline/ops", "pipeline/rdf")


def test_the_page(make_apply_operator: MakeApplyOperator) -> None:
    operator = make_apply_operator("store-diverges.md")
    place = operator.bench
    operator.start("--new", "earliest")
    place.write(added=[statement("a"), statement("b")])
    operator.until(lambda: place.next_offset() == 1, "the import to be in the store")
    place.delete_by_hand("a")
    place.delete_by_hand("b")
    place.write(added=[statement("c")], deleted=[statement("a")])
    operator.until(lambda: operator.logged("mutations_applied", missing=1), "the divergence to be noticed")

    operator.step("First check")
    operator.step("Reconcile an entity")
    lines = place.line_count()
    (record,) = read_topic(operator.names["127.0.0.1:9092"], RECONCILES)
    message = SourceMessage(Position(RECONCILES, 0, 0), record.key, record.value, datetime.now(UTC))
    event = parse_source_event(message, EntityPages("www.wikidata.org"))
    assert event is not None
    assert (event.entity, event.action, event.rev) == (ENTITY, "reconcile-creation", 124)
    operation = Operation(ENTITY, "reconcile", event.rev, None, "2026-03-02T09:00:00Z", 8, (event.position,))
    place.write_mutation(operation, TripleDiff(added=(statement("b"), statement("c"))))
    operator.until(lambda: place.line_count() > lines, "the reconcile to be logged")
    operator.step("It is over when")
    operator.finish()
    assert operator.stop() == 0
    divergence = place.divergence(present=["b", "c"], absent=["a"])
    assert (divergence.missing, divergence.unexpected) == (0, 0)
