"""Edits grouped by page and window in the plan of the stream, by Spark's own operator, before `foreachBatch`.

    each stream ─▶ by the parser: which group ─▶ its watermark ─┐
    each stream ─▶ by the parser: which group ─▶ its watermark ─┴▶ union ─▶ by group and window ─▶ by page

- `read: proportional` has a stream for each topic, as a union of Spark's sources has; the least of their watermarks
  counts, and that of a topic without an event is 1970. `read: aligned` has one stream for all of them.
- A group has the row of its last event, so what is behind this reads it as any other; `counted` says which events it
  stands for.
- A window leaves in the batch after the one that has moved the watermark past its end. That may be one without events,
  which Spark must be allowed to run.
- What comes late is never dropped in silence under `read: aligned`: it takes the first time that is not late, in a
  group by itself (`pipeline.state.deduplicate` has the same reason), and leaves as a lapsed_action event.
"""

import functools
from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TYPE_CHECKING

import pyarrow as pa

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.edit_counts import is_counted, parse_edit
from pipeline.jobs.enrichment import is_key_too_large
from pipeline.jobs.message import SourceMessage
from pipeline.records.lapsed_action import is_late
from pipeline.records.page_change import InvalidEventError
from pipeline.state.column_types import COLUMN_TYPES
from pipeline.state.event_time import in_time
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.spark_task import COUNTED, columns_of, messages_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

GROUP = "count_group"


def groups(config: PipelineConfig) -> ArrowFunction:
    """A function for `mapInArrow`: the rows as they are, and `GROUP` behind their columns."""
    return functools.partial(_with_groups, config.model_dump_json(by_alias=True))


def _with_groups(config_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    config = _config(config_json)
    for batch in batches:
        group_names = [group_of(message, config) for message in messages_of(iter([batch]))]
        yield batch.append_column(GROUP, pa.array(group_names, pa.string()))


@functools.cache
def _config(config_json: str) -> PipelineConfig:
    return PipelineConfig.model_validate_json(config_json)


def group_of(message: SourceMessage, config: PipelineConfig) -> str | None:
    """The group of an event: its page. An event that cannot be read, has too large a key, is late or has no time is a
    group by itself, which leaves as an error or lapsed_action event. None for any other: it is left out, and moves the
    watermark.
    """
    if config.source.late == "lapse" and is_late(message, config.source.lateness):
        return str(message.position)
    try:
        event = parse_edit(message.value, str(message.position))
    except InvalidEventError:
        return str(message.position)
    if not is_counted(event):
        return None
    if not message.has_time or is_key_too_large(message):
        return str(message.position)
    # No topic's name has a blank, so no page has the name of a position.
    return f"page {event.page_key.decode()}"


_EVENT_TIME, _LAST, _WINDOW = "event_time", "last_event", "count_window"
_PAGE = ("topic", "partition", "key")


def counted_by_window(streams: Sequence["DataFrame"], config: PipelineConfig, *, tasks: int) -> "DataFrame":
    """A row for each page and window whose time has come, in `tasks` partitions, each page in one of them."""
    from pyspark.sql import functions

    window_ms, delay_ms = (
        _milliseconds(setting.total_seconds()) for setting in (config.count.window, config.count.delay)
    )
    columns = columns_of(config.source)
    ddl = ", ".join(f"{name} {COLUMN_TYPES[name]}" for name in columns)

    def timed(rows: "DataFrame") -> "DataFrame":
        grouped = rows.select(*columns).mapInArrow(groups(config), f"{ddl}, {GROUP} string")
        # A window is dropped by its end, which lies behind each of its times: so a time at the watermark itself is
        # kept, and one more than that may be another window's. Without a time a row would be in no window at all.
        event_time = functions.coalesce(in_time(config, delay_ms + 1), functions.timestamp_millis(functions.lit(1)))
        return grouped.withColumn(_EVENT_TIME, event_time).withWatermark(_EVENT_TIME, f"{delay_ms} milliseconds")

    rows = reduce(lambda left, right: left.unionByName(right), map(timed, streams))
    place = functions.struct("topic", "partition", "offset")
    window = functions.window(_EVENT_TIME, f"{window_ms} milliseconds").alias(_WINDOW)
    # What has no group is one as well, which the job leaves out: Spark would have a filter act before the watermark,
    # and canaries would not move it.
    counted = rows.groupBy(window, GROUP).agg(
        # By time first: of two topics the later event is not the one with the higher offset.
        functions.max_by(functions.struct(*columns), functions.struct("timestamp", place)).alias(_LAST),
        functions.sort_array(functions.collect_list(place)).alias(COUNTED),
    )
    return counted.select(f"{_LAST}.*", COUNTED).repartition(tasks, *_PAGE)


def _milliseconds(seconds: float) -> int:
    return max(1, round(seconds * 1000))
