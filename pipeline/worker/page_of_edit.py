"""Which group an event is counted in, worked out by the job's own parser: in the worker, before Spark groups.

An edit is of its page's. What cannot be read, has too large a key, is late or has no time is a group by itself, which
leaves as an error or lapsed_action event. Anything else has none: it is left out, and moves the watermark as any other.
"""

import functools
from collections.abc import Iterator

import pyarrow as pa

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.jobs.edit_counts import is_counted, parse_edit
from pipeline.jobs.enrichment import is_key_too_large
from pipeline.jobs.message import SourceMessage
from pipeline.records.lapsed_action import is_late
from pipeline.records.page_change import InvalidEventError
from pipeline.worker.arrow import ArrowFunction
from pipeline.worker.spark_task import messages_of

GROUP = "count_group"


def groups(config: PipelineConfig) -> ArrowFunction:
    """A function for `mapInArrow`: the rows as they are, and `GROUP` behind their columns."""
    return functools.partial(_with_groups, config.model_dump_json(by_alias=True))


def _with_groups(config_json: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    config = _config(config_json)
    for batch in batches:
        found = [group_of(message, config) for message in messages_of(iter([batch]))]
        yield batch.append_column(GROUP, pa.array(found, pa.string()))


@functools.cache
def _config(config_json: str) -> PipelineConfig:
    return PipelineConfig.model_validate_json(config_json)


def group_of(message: SourceMessage, config: PipelineConfig) -> str | None:
    """The group of an event; None for one that is not counted."""
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
