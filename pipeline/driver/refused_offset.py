"""A broker that refuses an offset which its topic has: it was not up to date, after an election for example."""

import re
from collections.abc import Callable, Mapping
from contextlib import closing

from kafka.errors import KafkaError

from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import PipelineError, PositionGoneError
from pipeline.kafka.cluster import source_brokers
from pipeline.metrics.lag_watch import KafkaSource
from pipeline.records.record import SourcePartition

# Of Kafka's consumer for Java, where a broker has answered so.
_REFUSED = re.compile(r"\bFetchPosition\{offset=(\d+),.* is out of range for partition (\S+)-(\d+)\b")


def unless_kept(
    error: PositionGoneError, bounds: Callable[[], Mapping[SourcePartition, tuple[int, int]]]
) -> PipelineError:
    """The error, or one after which a restart helps: `bounds`, first offset and end, say that the position is there."""
    refused = _REFUSED.search(str(error))
    if refused is None:
        return error
    offset, partition = int(refused[1]), SourcePartition(refused[2], int(refused[3]))
    try:
        first, end = bounds()[partition]
    except (KafkaError, KeyError):
        return error
    if not first <= offset <= end:
        return error
    return PipelineError(
        f"{error}; but the topic has the offsets from {first} to {end}",
        hint="a broker that was not up to date refused it, after an election for example; a restart reads on",
    )


def source_bounds(config: PipelineConfig) -> Mapping[SourcePartition, tuple[int, int]]:
    """First offset and end of each partition of the job's source. Raises KafkaError."""
    with closing(KafkaSource(source_brokers(config), config.source.all_topics)) as source:
        return source.bounds()
