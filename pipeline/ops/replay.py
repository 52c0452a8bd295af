"""A part of the source once more: the same key, value and headers, and a header that says where it was.

The pipeline derives ids and times of its outputs from the event, not from its place: what a replay makes is
recognised as a repeat by a consumer that removes duplicates.
"""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from pipeline.errors import RefusedError
from pipeline.ops.copying import Copy
from pipeline.ops.moment import FORMS as MOMENTS
from pipeline.ops.moment import milliseconds, parse_moment
from pipeline.ops.source import Bounds, SourceRecord, SourceTopic
from pipeline.ops.spark_checkpoint import Offsets
from pipeline.records.record import Position

FORMS = f"earliest, latest, a point in time ({MOMENTS}), or offsets as partition:offset,partition:offset"
PLACE_HEADER = "replayed-from"
TIME_HEADER = "replayed-timestamp-ms"
_OFFSETS = re.compile(r"[0-9]{1,9}:[0-9]{1,18}(,[0-9]{1,9}:[0-9]{1,18})*", re.ASCII)

End = Literal["earliest", "latest"]
Edge = End | datetime | tuple[tuple[int, int], ...]
_ENDS: dict[str, End] = {"earliest": "earliest", "latest": "latest"}


@dataclass(frozen=True, slots=True)
class ReplayRange:
    """For each partition the offsets from `first` up to and without `end`."""

    first: Offsets
    end: Offsets


def parse_edge(text: str, now: datetime) -> Edge:
    """Where a part begins or ends. Raises RefusedError that lists the forms."""
    if text in _ENDS:
        return _ENDS[text]
    if _OFFSETS.fullmatch(text):
        pairs = tuple((int(pair.partition(":")[0]), int(pair.partition(":")[2])) for pair in text.split(","))
        if len(dict(pairs)) < len(pairs):
            raise RefusedError(f"{text}: a partition stands twice", hint="name each partition once")
        return pairs
    try:
        return parse_moment(text, now)
    except RefusedError as error:
        raise RefusedError(str(error), hint=f"write {FORMS}") from None


def part_between(source: SourceTopic, bounds: Bounds, begin: Edge, end: Edge) -> ReplayRange:
    """The part of the topic as it is now; of partitions that one edge leaves out, nothing. Raises RefusedError."""
    first, stop = _offsets(source, bounds, begin), _offsets(source, bounds, end)
    partitions = sorted(first.keys() & stop.keys())
    for partition in partitions:
        if first[partition] > stop[partition]:
            raise RefusedError(
                f"partition {partition} would end at {stop[partition]}, before it begins at {first[partition]}",
                hint="--from is the earlier one",
            )
    return ReplayRange(
        {partition: first[partition] for partition in partitions},
        {partition: stop[partition] for partition in partitions},
    )


def replayed(record: SourceRecord, topic: str, *, keep_partition: bool) -> Copy:
    """Its time is that of the replay: retention would take at once what is sent with an old one."""
    place = Position(topic, record.partition, record.offset)
    marks = ((PLACE_HEADER, str(place).encode()), (TIME_HEADER, str(record.timestamp_ms).encode()))
    partition = record.partition if keep_partition else None
    return Copy(record.key, record.value, (*record.headers, *marks), partition)


def _offsets(source: SourceTopic, bounds: Bounds, edge: Edge) -> Offsets:
    if edge == "earliest":
        return bounds.first
    if edge == "latest":
        return bounds.end
    if isinstance(edge, datetime):
        return source.at(milliseconds(edge), bounds)
    for partition, offset in edge:
        if partition not in bounds.end:
            raise RefusedError(
                f"topic {source.topic} has no partition {partition}", hint=f"it has 0 to {max(bounds.end)}"
            )
        first, end = bounds.first[partition], bounds.end[partition]
        if not first <= offset <= end:
            raise RefusedError(
                f"{source.topic}/{partition}/{offset} is not in the topic", hint=f"it holds {first} up to {end}"
            )
    return dict(edge)
