"""Before a batch writes anything: are its events of a version that the job can read?

    all of a readable version, for certain?     in the JVM, from what Kafka gives: no event goes to Python
    else                                        every event is parsed as far as its `$schema`, in the Python workers

The first look reads the source once more, which nothing saves but a shuffle before it, as a job with a state has one,
or `batch.reuse`: what is read of Kafka for it is not kept. But it does little with what it reads. An event is certain
when its text begins with a `$schema` that the job has been asked about and reads, and says it nowhere else. An event
that begins otherwise, or names it twice, may be perfectly good: it is only not known without a parser. So the first
look counts too many and never too few, and only its answer that the others are a few, by the same share, is taken. The
second is exact. It has the last word whenever the first is not sure: in the first batch of a process, when a new
version appears, and always where producers put another key first.
"""

import re
from typing import TYPE_CHECKING

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.kafka.sink import discard
from pipeline.state.state_mark import has_state
from pipeline.worker.spark_task import RECORD_DDL, count_versions
from pipeline.worker.task_results import accumulated_list
from pipeline.worker.unknown_versions import LEAST_EVENTS, are_few, require_readable

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_HEAD_CHARACTERS = 300
_NAME = r"[!#-\[\]-~]{1,200}"
"""A schema that stands in JSON as it is: printable ASCII without a quote, a backslash or a space."""
_FIRST_KEY = rf'^\s*\{{\s*"\$schema"\s*:\s*"({_NAME})"'
_KEY_END = '$schema"'
# Of any character of the key, as JSON may write it: what has none of these writes the key as it is.
_ESCAPED = r"\\u00(?:24|73|63|68|65|6[dD]|61)"
_MOST_KNOWN = 100
"""Producers that name a schema of its own for each event would fill the driver; those are looked at one by one."""


class VersionCheck:
    """For the life of the driver. Made before other threads make accumulators."""

    def __init__(self, spark: "SparkSession", config: PipelineConfig) -> None:
        self._config = config
        self._seen = accumulated_list(spark)
        self._readable: set[tuple[str, str]] = set()
        self._reads: dict[int, int] = {}

    def reads(self, batch: int) -> int:
        """How often a batch has read its source, with its one write action; to be asked once."""
        return self._reads.pop(batch, 1)

    def require_readable(self, rows: "DataFrame", batch: int, *, workers: int) -> None:
        """Raises UnreadableSourceError, and what Spark raises. Batches too small to tell have no such look."""
        self._reads = {batch: 1} | {number: reads for number, reads in self._reads.items() if number >= batch - 2}
        if self._config.batch.max_offsets < LEAST_EVENTS:
            return
        # What is behind a state is shuffled, and read again from there; what is kept, from where it is kept.
        further_reads = 0 if has_state(self._config) or self._config.batch.reuse != "off" else 1
        if self._readable:
            self._reads[batch] += further_reads
            if are_few(*count_uncertain(rows, self._readable)):
                return
        self._reads[batch] += further_reads
        self._seen.value = []
        discard(rows.mapInArrow(count_versions(self._config, self._seen, workers=workers), RECORD_DDL))
        require_readable(self._seen.value, batch)
        for task in self._seen.value:
            plain = {(topic, name) for topic, name in task.readable if re.fullmatch(_NAME, name)}
            self._readable |= set(sorted(plain - self._readable)[: _MOST_KNOWN - len(self._readable)])


def count_uncertain(rows: "DataFrame", readable: set[tuple[str, str]]) -> tuple[int, int]:
    """How many rows there are, and of how many it is not certain that the job can read their version: it reads those
    schemas of those topics. Raises what Spark raises.
    """
    from pyspark.sql import functions

    texts = rows.select("topic", functions.col("value").cast("string").alias("text"))
    uncertain = functions.when(is_certain(readable), 0).otherwise(1)
    counts = texts.agg(functions.count("*"), functions.sum(uncertain)).first()
    assert counts is not None
    return int(counts[0]), int(counts[1] or 0)


def is_certain(readable: set[tuple[str, str]]) -> "Column":
    """Whether a row with `topic` and `text` certainly has one of these schemas of these topics. Null, which is not
    true, for an event without a value.
    """
    from pyspark.sql import functions

    # The head alone: a regular expression has the JVM decode all that it is given.
    head = functions.substring("text", 1, _HEAD_CHARACTERS)
    topic_and_schema = functions.concat_ws("\n", functions.col("topic"), functions.regexp_extract(head, _FIRST_KEY, 1))
    is_readable = topic_and_schema.isin(*sorted(f"{topic}\n{name}" for topic, name in readable))
    once = functions.expr(f"locate('{_KEY_END}', text, instr(text, '{_KEY_END}') + 1) = 0")
    # A plain search comes first, as few texts escape what they need not.
    unescaped = (functions.instr("text", "\\u00") == 0) | ~functions.rlike("text", functions.lit(_ESCAPED))
    return is_readable & once & unescaped
