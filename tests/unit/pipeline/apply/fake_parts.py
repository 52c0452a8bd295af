"""A topic in memory, a store in memory, and what kills the process between any two of its steps."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pyoxigraph

from pipeline.apply.applier import Applier
from pipeline.apply.chunk_record import ChunkRecord, Resolve
from pipeline.apply.mutation_store import MutationStore
from pipeline.apply.sparql_target import Row, UpdateTarget
from pipeline.apply.work_report import WorkReport
from pipeline.config.apply_config import Apply
from pipeline.metrics.measurements import Recorder
from pipeline.rdf.mutation import mutation_records
from pipeline.rdf.operation import Op, Operation
from pipeline.rdf.revision_diff import TripleDiff
from pipeline.records.record import Position, Record
from tests.unit.pipeline.apply.mutations import TOPIC
from tests.unit.pipeline.rdf.turtle_texts import NAMESPACES

Step = Literal["read", "before", "half", "after"]
"""After a record was read; before, within and after an update that the store executes."""


class KilledError(BaseException):
    """The process is gone."""


@dataclass
class FakeTopic:
    """`polls` counts; what comes behind `end` is not written yet."""

    records: Sequence[ChunkRecord]
    position: int = 0
    poll_size: int = 500
    end: int | None = None
    killed_at: int | None = None
    topic: str = TOPIC
    is_idle: bool = False
    committed: list[int] = field(default_factory=list)
    reported: list[int] = field(default_factory=list)

    def read_from(self, offset: int) -> None:
        self.position, self.is_idle = offset, False

    def poll(self, timeout_s: float) -> Sequence[ChunkRecord]:
        del timeout_s
        end = len(self.records) if self.end is None else self.end
        polled = self.records[self.position : min(self.position + self.poll_size, end)]
        self.position += len(polled)
        if self.killed_at is not None and self.position > self.killed_at:
            raise KilledError
        self.is_idle = not polled
        return polled

    def commit(self, offset: int) -> None:
        self.committed.append(offset)

    def report(self, offset: int) -> None:
        self.reported.append(offset)


@dataclass
class StoreTarget:
    """`killed_at` is the number of the update, from 0, at which the process is killed. `half` is the number of its
    operations that the store executes then, which has no transactions.
    """

    store: pyoxigraph.Store
    killed_at: int | None = None
    step: Step = "before"
    half: int = 0
    updates: list[str] = field(default_factory=list)
    queries: list[str] = field(default_factory=list)

    def update(self, text: str) -> None:
        is_last = self.killed_at == len(self.updates)
        if is_last and self.step == "before":
            raise KilledError
        self.updates.append(text)
        operations = text.split(";\n")
        if is_last and self.step == "half":
            operations = operations[: self.half % len(operations)]
        if operations:
            self.store.update(";\n".join(operations))
        if is_last:
            raise KilledError

    def select(self, text: str) -> list[Row]:
        self.queries.append(text)
        solutions = self.store.query(text)
        assert isinstance(solutions, pyoxigraph.QuerySolutions)
        names = [variable.value for variable in solutions.variables]
        rows = [{name: solution[name] for name in names} for solution in solutions]
        return [{name: term.value for name, term in row.items() if term is not None} for row in rows]


NO_TRIPLES = TripleDiff()


def operation_records(
    entity: str, op: Op, seq: int, diff: TripleDiff = NO_TRIPLES, *, characters: int = 128_000
) -> list[Record]:
    """The records of the mutation of an entity's operation number `seq`."""
    operation = Operation(entity, op, seq, None, "2026-03-02T09:00:00Z", seq, (Position("source", 0, seq),))
    made = mutation_records(operation, diff, topic=TOPIC, domain="e.org", characters=characters)
    return [chunk.record for chunk in made]


def place_records(records: Iterable[Record]) -> list[ChunkRecord]:
    """At offsets from 0 on."""
    return [ChunkRecord(offset, record.value, record.headers) for offset, record in enumerate(records)]


def settings_of(**settings: Any) -> Apply:
    return Apply.model_validate({"endpoint": "http://127.0.0.1:1/update", "concept_base": NAMESPACES.base} | settings)


def no_claims(*_: object) -> bytes:
    raise AssertionError("no record has a claim check")


def applier_of(
    topic: FakeTopic,
    target: UpdateTarget,
    *,
    start: int = 0,
    replay_end: int = 0,
    resolve: Resolve = no_claims,
    recorder: Recorder | None = None,
    **settings: Any,
) -> Applier:
    """Its clock is a second later each time."""
    ticks = iter(range(1_000_000))

    def clock() -> float:
        return float(next(ticks))

    store = MutationStore(target, NAMESPACES, TOPIC, graph=settings.get("graph"), atomic=settings.get("atomic", True))
    topic.position = start
    if isinstance(target, StoreTarget) and settings.get("offset") != "kafka":
        written = MutationStore(StoreTarget(target.store), NAMESPACES, TOPIC)
        if written.next_offset() is None:
            written.write_offset(start)
    if settings.get("offset") != "kafka":
        store.adopt()
    report = WorkReport(recorder or Recorder(), clock)
    applied = store.applied_offset or start
    return Applier(topic, store, settings_of(**settings), resolve, report, start, replay_end, applied, clock=clock)


def apply_until_idle(applier: Applier) -> None:
    """All that the topic has."""
    topic = applier.records
    assert isinstance(topic, FakeTopic)
    applier.run(lambda: topic.is_idle)
