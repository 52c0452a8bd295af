"""The events that a deferred one stands for, in a header of its record in the ledger: by topic and partition, as Spark
writes offsets.

    {"mediawiki.page_change.v1": {"0": [17, 19]}}

An event counts in one output with others of its page. Only what is written here says which these were: they are
committed, and no record of the ledger has their position as its key.
"""

from collections.abc import Iterable

import orjson
from pydantic import NonNegativeInt, TypeAdapter, ValidationError

from pipeline.records.record import Position

_BY_TOPIC = TypeAdapter(dict[str, dict[NonNegativeInt, list[NonNegativeInt]]])


def counted_text(positions: Iterable[Position]) -> bytes:
    """In the order of the positions, where those of a partition follow each other, and partitions of a topic."""
    by_topic: dict[str, dict[str, list[int]]] = {}
    for one in positions:
        by_topic.setdefault(one.topic, {}).setdefault(str(one.partition), []).append(one.offset)
    return orjson.dumps(by_topic)


def counted_in(text: bytes) -> tuple[Position, ...]:
    """What `counted_text` was given. Raises ValueError for anything else."""
    try:
        found = _BY_TOPIC.validate_json(text)
    except ValidationError as error:
        raise ValueError(f"header counted is {text[:80]!r}, no offsets by topic and partition") from error
    return tuple(
        Position(topic, partition, offset)
        for topic, partitions in found.items()
        for partition, offsets in partitions.items()
        for offset in offsets
    )
