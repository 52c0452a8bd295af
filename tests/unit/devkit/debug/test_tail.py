"""The tail of a topic whose broker is slow to tell positions."""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace

import pytest
from kafka.structs import TopicPartition

from devkit.debug.tail import TopicTail, oldest_first
from devkit.stack.topic_reader import TopicRecord

PLACE = TopicPartition("t", 0)


class Consumer:
    """Holds three records. Its first position is None, as kafka-python has it when a broker does not tell in time."""

    def __init__(self) -> None:
        self._position, self._asked = 0, 0

    def topics(self) -> set[str]:
        return {"t"}

    def partitions_for_topic(self, _topic: str) -> set[int]:
        return {0}

    def assign(self, places: Sequence[TopicPartition]) -> None:
        assert places == [PLACE]

    def end_offsets(self, _places: Sequence[TopicPartition], *, timeout_ms: int) -> Mapping[TopicPartition, int]:
        return {PLACE: 3}

    def beginning_offsets(self, _places: Sequence[TopicPartition], *, timeout_ms: int) -> Mapping[TopicPartition, int]:
        return {PLACE: 0}

    def seek(self, _place: TopicPartition, offset: int) -> None:
        self._position = offset

    def position(self, _place: TopicPartition) -> int | None:
        self._asked += 1
        return None if self._asked == 1 else self._position

    def poll(self, timeout_ms: int) -> Mapping[TopicPartition, Sequence[SimpleNamespace]]:
        assert timeout_ms
        if self._position == 3:
            return {}
        self._position += 1
        offset = self._position - 1
        record = SimpleNamespace(
            topic=PLACE.topic, partition=0, offset=offset, timestamp=offset, key=None, value=b"%d" % offset, headers=()
        )
        return {PLACE: [record]}

    def close(self) -> None:
        pass


def test_a_position_that_is_not_told_yet_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devkit.debug.tail.connect", lambda _bootstrap, **_settings: Consumer())
    with TopicTail("broker:1", "t") as tail:
        assert [record.value for record in tail.last(2)] == [b"1", b"2"]


def test_a_record_without_a_time_stays_behind_the_one_before_it() -> None:
    times = {0: [10, 10**18, 30, 0], 1: [-1, 20, 40]}
    records = [
        TopicRecord("t", partition, offset, time_ms, None, None)
        for partition, of in times.items()
        for offset, time_ms in enumerate(of)
    ]
    assert [(one.partition, one.offset) for one in oldest_first(records)] == [
        (1, 0), (0, 0), (0, 1), (1, 1), (0, 2), (0, 3), (1, 2),
    ]  # fmt: skip
