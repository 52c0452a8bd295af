"""Events of entities put in order and decided, in the plan of the stream, before `foreachBatch`.

    source ─▶ by the parser: which group ─▶ watermark ─▶ by entity: `DecideByEntity` ─▶ by entity ─▶ foreachBatch

- A group is an entity, with a state (`pipeline.updater`): last revision, number of operations, events that wait, and
  timers. Its rows are events with their outcomes; `TURN` says in which order those of one entity leave.
- An event that cannot be read is a group by itself without a state, and leaves as it is. One of no entity has no group:
  it moves the watermark, and is left out behind it.
- Spark drops what is behind its watermark before the operator sees it. So a late row takes the first time that is not;
  what is late is said by the event's own time, beside the watermark.
- Timers fire in the batch after the one that has moved the watermark. That may be one without events, which Spark must
  be allowed to run.
- State is never dropped: an entity without it would be imported again.
"""

import functools
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.rdf_decide import entity_pages
from pipeline.records.page_change import InvalidEventError
from pipeline.state import initial_state
from pipeline.state.column_types import COLUMN_TYPES
from pipeline.state.event_time import in_time
from pipeline.updater.decided_event import decided_events
from pipeline.updater.reorder import EntityState, ReorderRules, Step, accept, next_release_ms, release
from pipeline.updater.source_event import SourceEvent, parse_source_event
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.spark_task import DECIDED, HORIZON, SOURCE_COLUMNS, messages_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP, EVENT, TURN = "decide_group", "source_event", "turn"
ENTITY, BUFFERED = "entity", "buffered"
"""The state's variables: a row for each entity, and a list for each that has events which wait."""
DELAY_MS = 1
"""Of the watermark: the least by which a late row's time does not move it."""
_EVENT_TIME, _TIME_US = "event_time", "timestamp_us"
_COLUMNS = (*SOURCE_COLUMNS, HORIZON)
# What leaves by a timer does so behind all that came with the batch's rows.
_FIRST_RELEASED = 1 << 40


def decided_by_entity(
    rows: "DataFrame", config: PipelineConfig, *, tasks: int, initial: "DataFrame | None" = None
) -> "DataFrame":
    """A row for each event that something came of, or that cannot be read, in `tasks` partitions, each entity in one of
    them. To be sorted by key and `TURN`, which Spark allows only in `foreachBatch`. The first batch takes up `initial`.
    """
    from pyspark.sql import functions

    ddl = ", ".join(f"{name} {COLUMN_TYPES[name]}" for name in _COLUMNS)
    parsed = rows.select(*_COLUMNS).mapInArrow(with_events(config), f"{ddl}, {GROUP} string, {EVENT} binary")
    timed = parsed.withColumn(_EVENT_TIME, in_time(config, DELAY_MS)).withWatermark(
        _EVENT_TIME, f"{DELAY_MS} milliseconds"
    )
    # Spark would have a filter act before the watermark, unless it is by the time as well.
    grouped = timed.where(functions.col(GROUP).isNotNull() | functions.col(_EVENT_TIME).isNull())
    decided = (
        grouped.withColumn(_TIME_US, functions.unix_micros("timestamp"))
        .drop("timestamp", HORIZON)
        .groupBy(GROUP)
        .transformWithState(
            DecideByEntity(config.model_dump_json(by_alias=True)),
            "topic string, partition int, offset long, key binary, value binary, "
            f"{_TIME_US} long, {DECIDED} boolean, {TURN} long",
            outputMode="Append",
            timeMode="EventTime",
            initialState=None if initial is None else initial.groupBy(initial_state.ENTITY),
        )
        .withColumn("timestamp", functions.timestamp_micros(_TIME_US))
    )
    return decided.select(*SOURCE_COLUMNS, DECIDED, TURN).repartition(tasks, "key")


def with_events(config: PipelineConfig) -> ArrowFunction:
    """A function for `mapInArrow`: the rows, with `GROUP` and `EVENT` behind their columns. Only what cannot be read
    keeps its key and value.
    """
    return functools.partial(_with_events, config.model_dump_json(by_alias=True))


def _with_events(config_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    pages = entity_pages(_config(config_json))
    for batch in batches:
        groups: list[str | None] = []
        events: list[bytes | None] = []
        kept: list[bool] = []
        for message in messages_of(iter([batch])):
            try:
                event = parse_source_event(message, pages)
            except InvalidEventError:
                # No entity has the name of a position.
                groups.append(str(message.position))
                events.append(None)
                kept.append(True)
                continue
            groups.append(None if event is None else event.entity)
            events.append(None if event is None else event.to_bytes())
            kept.append(False)
        for name in ("key", "value"):
            place = batch.schema.get_field_index(name)
            column = [content if keep else None for content, keep in zip(batch[name].to_pylist(), kept, strict=True)]
            batch = batch.set_column(place, name, pa.array(column, pa.binary()))
        yield batch.append_column(GROUP, pa.array(groups, pa.string())).append_column(
            EVENT, pa.array(events, pa.binary())
        )


@functools.cache
def _config(config_json: str) -> PipelineConfig:
    return PipelineConfig.model_validate_json(config_json)


class DecideByEntity(StatefulProcessor):
    """See `pipeline.updater`, which has all the rules."""

    def __init__(self, config_json: str) -> None:
        self._config_json = config_json

    def init(self, handle: StatefulProcessorHandle) -> None:
        """The state of an entity."""
        updater = _config(self._config_json).updater
        self._rules = ReorderRules(round(updater.reorder / timedelta(milliseconds=1)), updater.continue_at_once)
        self._handle = handle
        self._entity = handle.getValueState(ENTITY, "last long, seq long")
        self._buffered = handle.getListState(BUFFERED, f"{EVENT} binary")

    def handleInputRows(self, key: Any, rows: Iterator[Row], timerValues: Any) -> Iterator[Row]:  # noqa: N802, N803
        """The events of an entity that came with the batch; what cannot be read, as it is."""
        invalid: list[Row] = []
        events: list[SourceEvent] = []
        for row in rows:
            if row[EVENT] is not None:
                events.append(SourceEvent.from_bytes(bytes(row[EVENT])))
            elif key[0] is not None:
                invalid.append(row)
        if not events:
            return iter([_unread(row) for row in invalid])
        before = self._state()
        step = accept(before, events, timerValues.getCurrentWatermarkInMs(), self._rules)
        return self._ended(before, step, (*before.buffered, *events), has_fired=False)

    def handleExpiredTimer(  # noqa: N802 - names of the interface, as they are passed
        self,
        key: Any,  # noqa: ARG002
        timerValues: Any,  # noqa: N803
        expiredTimerInfo: Any,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """The events whose time to wait is over."""
        before = self._state()
        step = release(before, timerValues.getCurrentWatermarkInMs(), self._rules)
        return self._ended(before, step, before.buffered, has_fired=True)

    def handleInitialState(self, key: Any, initialState: Row, timerValues: Any) -> None:  # noqa: ARG002, N802, N803
        """The revision of an entity, of which no operation has been decided yet."""
        self._entity.update((initialState[initial_state.LAST], 0))

    def _state(self) -> EntityState:
        # Spark warns of each value that is asked for and not there.
        last, seq = (self._entity.get() if self._entity.exists() else None) or (0, 0)
        buffered = tuple(SourceEvent.from_bytes(bytes(row[0])) for row in self._buffered.get())
        return EntityState(last, seq, buffered)

    def _ended(
        self, before: EntityState, step: Step, events: Iterable[SourceEvent], *, has_fired: bool
    ) -> Iterator[Row]:
        """Keeps the state, and gives the rows of what came of the events. `has_fired`: by a timer."""
        state = step.state
        if (state.last, state.seq) != (before.last, before.seq):
            self._entity.update((state.last, state.seq))
        if state.buffered != before.buffered:
            if state.buffered:
                self._buffered.put([(event.to_bytes(),) for event in state.buffered])
            else:
                self._buffered.clear()
        next_ms = next_release_ms(state, self._rules)
        # The timer that has fired is gone, also where a longer window than its own has nothing leave yet.
        if next_ms is not None and (has_fired or next_ms != next_release_ms(before, self._rules)):
            self._handle.registerTimer(next_ms)
        by_position = {event.position: event for event in events}
        decided = decided_events(step.outcomes, by_position)
        rows = []
        for turn, made in enumerate(decided, _FIRST_RELEASED if has_fired else 0):
            event = made.event
            assert event is not None
            position = event.position
            rows.append(
                Row(
                    topic=position.topic,
                    partition=position.partition,
                    offset=position.offset,
                    key=event.entity.encode(),
                    value=made.to_bytes(),
                    timestamp_us=event.appended_ms * 1000,
                    decided=True,
                    turn=turn,
                )
            )
        return iter(rows)


def _unread(row: Row) -> Row:
    return Row(
        topic=row["topic"],
        partition=row["partition"],
        offset=row["offset"],
        key=row["key"],
        value=row["value"],
        timestamp_us=row[_TIME_US],
        decided=False,
        turn=0,
    )
