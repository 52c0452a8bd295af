"""Whether a job can continue from a checkpoint that is whole: of this job, and the broker still has its offsets.

The lesson: a checkpoint of another topic, or of offsets that retention has taken, is noticed when the job starts, in
the night, or worse, not at all.
"""

from collections.abc import Collection, Iterator, Mapping

from pipeline.ops.source import Bounds
from pipeline.ops.spark_checkpoint import SparkCheckpoint

_AGAIN = "begin again at another checkpoint, with `run --new`"


def problems(checkpoint: SparkCheckpoint, topics: Mapping[str, Bounds]) -> list[str]:
    """Each reason why the job could not continue from a whole checkpoint, with what there is to do. `topics` are those
    that the job reads.
    """
    found = [*_of_topics(checkpoint, topics)]
    for topic, bounds in topics.items():
        found += _of_broker(checkpoint, topic, bounds)
    return found


def _of_topics(checkpoint: SparkCheckpoint, topics: Collection[str]) -> Iterator[str]:
    foreign = sorted(set(checkpoint.topics) - set(topics))
    if foreign:
        yield (
            f"it is of topic {', '.join(foreign)}, and the job reads {', '.join(topics)}: name this job's checkpoint, "
            "or give the new topic one with `run --new`"
        )


def _of_broker(checkpoint: SparkCheckpoint, topic: str, bounds: Bounds) -> Iterator[str]:
    wanted = dict(checkpoint.committed().get(topic, {}))
    planned = dict(checkpoint.last.ends.get(topic, {})) if checkpoint.last and not checkpoint.is_committed else {}
    for partition in sorted({*wanted, *planned}):
        place = f"{topic}/{partition}"
        if partition not in bounds.end:
            yield f"partition {place} is not there: the topic was made again with fewer; {_AGAIN}"
            continue
        first, end = bounds.first[partition], bounds.end[partition]
        offset, furthest = wanted.get(partition, 0), max(wanted.get(partition, 0), planned.get(partition, 0))
        if furthest > end:
            yield (
                f"{place}/{furthest} is behind the topic's end {end}: it is another cluster's, or the topic was made "
                f"again; {_AGAIN}"
            )
        elif partition in wanted and offset < first:
            yield (
                f"{place}/{offset} is gone: retention has kept {first} and later, {first - offset} events are lost; "
                "set-offsets --at goes on with what remains"
            )
