"""Repeats of an event are dropped by Spark's own operator, in the plan of the stream before `foreachBatch`.

    source ─▶ one task reads ─▶ by key: the operator ─▶ by page ─▶ foreachBatch: version look, enrichment

- One task reads, so a key's first event is the same one however often a batch is run; from several tasks on several
  machines, events arrive in an order of chance, and a batch after a crash could keep another of two.
- What the operator lets through is shuffled by page. So each page is in one task, as the order of its events needs;
  and whatever reads the batch twice reads the files of that shuffle, and the state is worked out and written once.
- The key is a text: `meta.id` where that is a UUID in valid JSON, as the job's parser wants it, else the source
  position, which no other event has.
- Spark drops what is at or behind its watermark before the operator sees it. The aligned source says with each row
  which event time was read before its batch, and the watermark is `within` behind that at most, or where a shorter one
  of an earlier start has brought it. A row that is late takes the first time that is not: it is never dropped for being
  late, and forgotten soonest.
"""

from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.state.event_time import in_time
from pipeline.worker.spark_task import HORIZON

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

PAGE_ORDER = ("topic", "partition", "offset")
_PAGE = ("topic", "partition", "key")
_KEY, _EVENT_TIME = "state_key", "event_time"
_END = "the event ends here"
_UUID = "^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$"


def without_repeats(
    rows: "DataFrame", config: PipelineConfig, *, tasks: int, shortest_ms: int | None = None
) -> "DataFrame":
    """The stream without its repeats, where the configuration wants that: then in `tasks` partitions, each page in one
    of them. To be sorted by `PAGE_ORDER`, which Spark allows only in `foreachBatch`. `shortest_ms` is the shortest
    `within` that the checkpoint has had, None where it is not known.
    """
    deduplicate = config.source.deduplicate
    if deduplicate is None:
        return rows
    keyed = rows.coalesce(1).withColumn(_KEY, key_of_state(config))
    if deduplicate.within == "ever":
        once = keyed.dropDuplicates([_KEY])
    else:
        within_ms = max(1, round(deduplicate.within.total_seconds() * 1000))
        timed = keyed.withColumn(_EVENT_TIME, in_time(config, min(within_ms, shortest_ms or within_ms)))
        once = timed.withWatermark(_EVENT_TIME, f"{within_ms} milliseconds").dropDuplicatesWithinWatermark([_KEY])
    return once.repartition(tasks, *_PAGE)


def key_of_state(config: PipelineConfig) -> "Column":
    """A column that is equal for an event and its repeats, and for no other row of the source."""
    from pyspark.sql import functions

    # No UUID has a slash.
    position = functions.concat_ws("/", *PAGE_ORDER)
    if config.source.deduplicate is not None and config.source.deduplicate.by == "event":
        return functions.coalesce(functions.base64("value"), position)
    text = functions.col("value").cast("string")
    # Spark's parser stops at the end of the first value, and takes what is no UTF-8. In a list, with another value
    # behind the text, it comes to that only where the text is one value by itself.
    parsed = functions.try_parse_json(functions.concat(functions.lit("["), text, functions.lit(f',"{_END}"]')))
    event_id = functions.try_variant_get(parsed, "$[0].meta.id", "string")
    is_one = functions.try_variant_get(parsed, "$[1]", "string") == _END
    is_id = functions.rlike(event_id, functions.lit(_UUID)) & is_one & functions.is_valid_utf8(text)
    if config.source.late == "lapse":
        # It leaves as a lapsed_action event, and is no reason to drop one that comes in time.
        late_us = round(config.source.lateness.total_seconds() * 1_000_000)
        behind_us = functions.unix_micros(HORIZON) - functions.unix_micros("timestamp")
        is_id = is_id & functions.coalesce(behind_us <= late_us, functions.lit(True))
    return functions.coalesce(functions.when(is_id, event_id), position)
