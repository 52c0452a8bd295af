"""The operator by entity with a store of its own, without Spark; that Spark calls it so, the integration test shows."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pyarrow as pa
import pytest
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessorHandle

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.schemas import PAGE_DELETE_URI
from pipeline.state.decided_by_entity import ENTITY, EVENT, GROUP, DecideByEntity, with_events
from pipeline.updater.decided_event import DecidedEvent
from pipeline.updater.source_event import SourceEvent
from pipeline.worker.spark_task import HORIZON
from tests.unit.pipeline.updater.source_events import START_MS, described, source_event

WINDOW_MS = 60_000
LEAVES_MS = WINDOW_MS + 1


@dataclass
class Store:
    """The state of one entity, with the timers that were registered, as Spark's handle gives it."""

    values: dict[str, Any] = field(default_factory=dict)
    timers: list[int] = field(default_factory=list)
    writes: int = 0

    def getValueState(self, name: str, schema: str) -> Any:  # noqa: N802
        assert schema == "last long, seq long"
        return self._variable(name, None)

    def getListState(self, name: str, schema: str) -> Any:  # noqa: N802
        assert schema == f"{EVENT} binary"
        return self._variable(name, [])

    def registerTimer(self, at_ms: int) -> None:  # noqa: N802
        self.timers.append(at_ms)

    def _variable(self, name: str, missing: Any) -> Any:
        def write(value: Any) -> None:
            self.writes += 1
            self.values[name] = value

        return SimpleNamespace(
            exists=lambda: name in self.values,
            get=lambda: iter(self.values.get(name, [])) if missing == [] else self.values[name],
            update=write,
            put=write,
            clear=lambda: write(missing),
        )


@dataclass
class Operator:
    """One for each batch, as Spark makes them, over the same store."""

    config_json: str
    store: Store = field(default_factory=Store)

    def accept(self, events: Sequence[SourceEvent], watermark: int = 0) -> list[Row]:
        """`watermark` in milliseconds after the tests' start."""
        rows = (self.row(event) for event in events)
        return list(self._made().handleInputRows(("Q1",), rows, self._times(watermark)))

    def expire(self, watermark: int) -> list[Row]:
        return list(self._made().handleExpiredTimer(("Q1",), self._times(watermark), None))

    def row(self, event: SourceEvent) -> Row:
        return Row(**{EVENT: bytearray(event.to_bytes())})

    def _made(self) -> DecideByEntity:
        operator = DecideByEntity(self.config_json)
        operator.init(cast(StatefulProcessorHandle, self.store))
        return operator

    def _times(self, watermark: int) -> Any:
        return SimpleNamespace(getCurrentWatermarkInMs=lambda: START_MS + watermark)


@pytest.fixture
def operator(make_config: Callable[..., PipelineConfig]) -> Operator:
    return Operator(make_config(job="rdf-decide").model_dump_json(by_alias=True))


def outcomes(rows: Sequence[Row]) -> list[str]:
    """In the order of their turns."""
    decided = [DecidedEvent.from_bytes(row["value"]) for row in sorted(rows, key=lambda row: row["turn"])]
    return [described(outcome) for event in decided for outcome in event.outcomes]


def test_events_wait_for_their_timer(operator: Operator) -> None:
    events = [source_event("page-delete", 1, 20), source_event("revision-create", 1, 10)]
    assert operator.accept(events) == []
    assert operator.store.timers == [START_MS + 10 + LEAVES_MS]
    assert ENTITY not in operator.store.values
    first = operator.expire(10 + LEAVES_MS)
    assert outcomes(first) == ["import 1"]
    assert operator.store.timers[-1] == START_MS + 20 + LEAVES_MS
    assert outcomes(operator.expire(20 + LEAVES_MS)) == ["delete 1"]
    assert operator.store.values == {ENTITY: (-1, 2), "buffered": []}


def test_a_timer_of_a_shorter_window_changes_nothing_and_is_set_again(operator: Operator) -> None:
    operator.accept([source_event("revision-create", 1, 10)])
    writes = operator.store.writes
    assert operator.expire(0) == []
    assert operator.store.writes == writes
    assert operator.store.timers == [START_MS + 10 + LEAVES_MS] * 2


def test_a_timer_that_is_there_is_not_set_again(operator: Operator) -> None:
    """Spark would warn of each."""
    for rev, time in ((1, 10), (2, 20), (3, 5)):
        operator.accept([source_event("revision-create", rev, time)])
    assert operator.store.timers == [START_MS + time + LEAVES_MS for time in (10, 5)]


def test_rows_have_the_events_place_and_leave_by_turn(operator: Operator) -> None:
    event = source_event("revision-create", 1, 10, appended_ms=START_MS + 15)
    operator.accept([event])
    late = source_event("revision-create", 9, 1)
    (lapsed,) = operator.accept([late], watermark=2 + WINDOW_MS)
    (released,) = operator.expire(10 + LEAVES_MS)
    assert outcomes([released, lapsed]) == ["late 9", "import 1"], "what came with the batch is before the timers"
    row = released.asDict()
    assert DecidedEvent.from_bytes(row.pop("value")).event == event
    assert row.pop("turn") > lapsed["turn"]
    assert row == {
        "topic": event.position.topic,
        "partition": 0,
        "offset": 10,
        "key": b"Q1",
        "timestamp_us": (START_MS + 15) * 1000,
        "decided": True,
    }


def test_the_same_batch_again_gives_the_same_bytes_in_any_order(operator: Operator) -> None:
    events = [source_event("revision-create", rev, rev) for rev in range(1, 6)]
    other = Operator(operator.config_json)
    made = [[*of.accept(rows), *of.expire(WINDOW_MS + 9)] for of, rows in ((operator, events), (other, events[::-1]))]
    assert made[0] == made[1]
    assert operator.store.values == other.store.values
    assert [row["turn"] for row in made[0]] == sorted({row["turn"] for row in made[0]})


def test_what_cannot_be_read_leaves_as_it_is_without_a_state(operator: Operator) -> None:
    source = {"topic": "t", "partition": 2, "offset": 7, "key": b"k", "value": b"{no"}
    rows = [Row(**source, timestamp_us=5, **{EVENT: None})]
    processor = operator._made()
    left = list(processor.handleInputRows(("t/2/7",), iter(rows), operator._times(0)))
    assert [row.asDict() for row in left] == [source | {"timestamp_us": 5, "decided": False, "turn": 0}]
    assert list(processor.handleInputRows((None,), iter(rows), operator._times(0))) == [], "it is of no entity"
    assert (operator.store.values, operator.store.timers) == ({}, [])


def test_each_message_gets_its_group(make_config: Callable[..., PipelineConfig]) -> None:
    meta = {"domain": "www.wikidata.org", "dt": "2026-03-02T09:00:00Z", "stream": "mediawiki.page-delete"}
    event = {"$schema": PAGE_DELETE_URI, "meta": meta, "page_id": 1, "page_namespace": 120, "rev_id": 3}
    event |= {"database": "wikidatawiki", "page_is_redirect": False}
    values = [
        orjson.dumps(event | {"page_title": "Property:P3"}),
        orjson.dumps(event | {"page_title": "A talk"}),
        orjson.dumps(event | {"meta": meta | {"domain": "canary"}}),
        b"{no",
        None,
    ]
    columns = {
        "topic": ["t"] * 5,
        "partition": [0] * 5,
        "offset": list(range(5)),
        "key": [b"k"] * 5,
        "value": values,
        "timestamp": [datetime(2026, 3, 2, 9, tzinfo=UTC)] * 5,
        HORIZON: [None] * 5,
    }
    batch = pa.RecordBatch.from_pydict(columns, schema=_SCHEMA)
    (made,) = _mapped(make_config(job="rdf-decide"), [batch])
    groups = made.column(GROUP).to_pylist()
    assert groups[:3] == ["P3", None, None]
    assert len(set(groups[3:])) == 2
    assert all("t" in group and not group.startswith(("Q", "P", "L")) for group in groups[3:])
    events = made.column(EVENT).to_pylist()
    assert [value is not None for value in events] == [True, False, False, False, False]
    assert SourceEvent.from_bytes(events[0]).action == "page-delete"
    assert made.column("value").to_pylist() == [None, None, None, b"{no", None]
    assert made.column("key").to_pylist() == [None, None, None, b"k", b"k"]
    assert made.schema.names == [*columns, GROUP, EVENT]


_SCHEMA = pa.schema(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "offset": pa.int64(),
        "key": pa.binary(),
        "value": pa.binary(),
        "timestamp": pa.timestamp("us", "UTC"),
        HORIZON: pa.timestamp("us", "UTC"),
    }
)


def _mapped(config: PipelineConfig, batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return with_events(config)(iter(batches))
