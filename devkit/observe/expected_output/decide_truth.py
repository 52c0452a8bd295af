"""rdf-decide: each event of an entity is an operation or an inconsistency, and the last operation leaves the entity as
the wiki has it.

Where a dump was loaded, the job knows the revisions that it has, and reads each partition from the first event behind
the dump's beginning.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import datetime

import orjson

from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.source_event import SourceEvent
from devkit.observe.checkpoint import SourcePartition
from devkit.observe.expected_output.entity_history import NEWER, NOTHING_KNOWN, Decision, EntityEvent, history
from devkit.observe.expected_output.rdf_truth import RdfTruth
from devkit.observe.expected_output.truth import WikiAnswers
from devkit.observe.store_difference import EntityTruth
from devkit.traffic.records import Expected
from pipeline.config.pipeline_config import PipelineConfig

BEFORE_THE_DUMP = "before_the_dump"
"""Why an event is filtered that the job begins behind."""
_NAMESPACE = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:rdf-operation")


class DecideTruth:
    """See `JobTruth`, `FatesTogether`, `NumberedOutputs`, `StoredOutputs` and `LoadedOutputs`."""

    def __init__(self, config: PipelineConfig, wiki: WikiAnswers) -> None:
        self._triples = RdfTruth(config, wiki).entity_triples
        self._dump = wiki.dump
        self._dumped = NOTHING_KNOWN if wiki.dump is None else wiki.dump.revisions

    def expected(self, topic: str, value: bytes, stated: Expected) -> Expected:  # noqa: ARG002 - part of the interface
        """As the generator states it; `fates` knows what becomes of an entity's event."""
        return stated

    def fates(self, events: Sequence[SourceEvent]) -> list[SourceEvent]:
        """The same events, of which those of entities are operations or inconsistencies. Those before the dump are not
        read.
        """
        unread = frozenset[Position]() if self._dump is None else _before(self._dump.begun, events)
        read = (event for event in events if _is_of_entity(event) and event.position not in unread)
        decisions = history(map(EntityEvent.of, read), self._dumped).decisions
        return [
            _unread(event)
            if event.position in unread
            else _with_fate(event, decisions[event.position])
            if event.position in decisions
            else event
            for event in events
        ]

    def key(self, event: SourceEvent) -> bytes:
        """The entity, for operations, inconsistencies and lapsed events; the source's for an event of none."""
        if event.entry.expected.page is None or event.entry.expected.fate == "filtered":
            return event.key
        return EntityEvent.of(event).entity.encode()

    def output(self, event: SourceEvent) -> "ExpectedOperation":
        """Of an event with the fate that `fates` gives it."""
        return ExpectedOperation(event)

    def number(self, value: bytes) -> tuple[str, int] | None:
        """Entity and `seq` of an operation; None where the record does not say them."""
        try:
            operation = orjson.loads(value)
            return str(operation["entity"]), int(operation["seq"])
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            return None

    def stored(self, events: Sequence[SourceEvent]) -> Iterator[EntityTruth]:
        """By the last revision of each entity, whatever the job has read."""
        changed = history(map(EntityEvent.of, filter(_is_of_entity, events))).revisions
        for entity, rev in {**self._dumped, **changed}.items():
            yield EntityTruth(entity, frozenset() if rev is None else self._triples(entity, rev))

    def loaded(self) -> Iterator[EntityTruth]:
        """By the revision that the dump has of each entity."""
        for entity, rev in self._dumped.items():
            yield EntityTruth(entity, self._triples(entity, rev))


class ExpectedOperation:
    """See `ExpectedOutput`."""

    def __init__(self, event: SourceEvent) -> None:
        self._event = event

    def difference(self, value: bytes, *, body_removed: bool) -> str | None:  # noqa: ARG002 - part of the interface
        """Every field. Which `seq` an operation has depends on those before it, so it counts by `number`."""
        event, from_rev = EntityEvent.of(self._event), self._event.entry.expected.parent_revision
        op = "delete" if event.kind == "delete" else "import" if from_rev is None else "diff"
        try:
            operation = orjson.loads(value)
            time, seq = datetime.fromisoformat(operation["dt"]), int(operation["seq"])
            fields = {
                "entity": (operation["entity"], event.entity),
                "op": (operation["op"], op),
                "rev": (operation["rev"], event.rev),
                "from_rev": (operation.get("from_rev"), from_rev),
                "dt": (time, event.time),
                "id": (operation["id"], str(uuid.uuid5(_NAMESPACE, f"{event.entity} {event.rev} {op} {seq}"))),
                "sources": (operation["sources"], [list(event.position)]),
            }
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError) as error:
            return f"not an operation: {error!r}"
        wrong = ((name, actual, due) for name, (actual, due) in fields.items() if actual != due)
        return next((f"{name} is {actual!r}; expected {due!r}" for name, actual, due in wrong), None)


def _is_of_entity(event: SourceEvent) -> bool:
    return event.entry.expected.fate == "output"


def _before(begun: datetime, events: Sequence[SourceEvent]) -> frozenset[Position]:
    """The events before the first one of their partition that was received at that time or later."""
    firsts: dict[SourcePartition, int] = {}
    for event in events:
        if (received := _received(event)) is not None and received >= begun:
            firsts[event.partition] = min(event.entry.offset, firsts.get(event.partition, event.entry.offset))
    return frozenset(
        event.position
        for event in events
        if event.partition not in firsts or event.entry.offset < firsts[event.partition]
    )


def _received(event: SourceEvent) -> datetime | None:
    """None where the event cannot be parsed."""
    try:
        return datetime.fromisoformat(orjson.loads(event.value)["meta"]["dt"])
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
        return None


def _unread(event: SourceEvent) -> SourceEvent:
    expected = event.entry.expected.model_copy(update={"fate": "filtered", "reason": BEFORE_THE_DUMP})
    return replace(event, entry=event.entry.model_copy(update={"expected": expected}))


def _with_fate(event: SourceEvent, decision: Decision) -> SourceEvent:
    may_end_in = NEWER if decision.may_be_newer else None
    # A repeat is decided like any other event.
    fate: dict[str, object] = {"parent_revision": decision.from_rev, "may_end_in": may_end_in, "repeat": False}
    if not decision.is_operation:
        fate |= {"fate": "error", "reason": decision.outcome}
    expected = event.entry.expected.model_copy(update=fate)
    return replace(event, entry=event.entry.model_copy(update={"expected": expected}))
