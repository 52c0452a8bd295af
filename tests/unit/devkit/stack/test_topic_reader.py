"""Whether a consumer has read what there is."""

from collections.abc import Mapping
from typing import cast

import pytest
from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from devkit.stack.topic_reader import has_read

FIRST, SECOND = TopicPartition("t", 0), TopicPartition("t", 1)


class Consumer:
    """kafka-python gives None for a position that it could not ask for in time, as of a broker that has just died."""

    def __init__(self, positions: Mapping[TopicPartition, int | None]) -> None:
        self._positions = positions

    def position(self, place: TopicPartition) -> int | None:
        return self._positions[place]


@pytest.mark.parametrize(
    ("positions", "has"),
    [
        ({FIRST: 5, SECOND: 3}, True),
        ({FIRST: 5, SECOND: 2}, False),
        ({FIRST: 5, SECOND: None}, False),
    ],
)
def test_it_has_when_each_position_is_at_its_end(positions: Mapping[TopicPartition, int | None], has: bool) -> None:
    assert has_read(cast(KafkaConsumer, Consumer(positions)), {FIRST: 5, SECOND: 3}) is has


def test_a_partition_without_records_is_read() -> None:
    assert has_read(cast(KafkaConsumer, Consumer({FIRST: None})), {FIRST: 0})
