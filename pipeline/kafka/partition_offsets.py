"""Where partitions begin and end, and what they held when: asked through kafka-python, with an answer for each of them.

kafka-python (3.0) asks only for partitions whose leader it knows at the moment: its metadata may be of other topics,
or a partition may have none. Where it knows that of some of them, the others are missing in what came, which it raises
as KeyError for ends, and reports as `no such record` for times. For a partition that is asked for alone it waits.
"""

import time
from collections.abc import Callable, Collection, Mapping
from typing import Any

from kafka import KafkaConsumer
from kafka.errors import KafkaTimeoutError
from kafka.structs import OffsetAndTimestamp, TopicPartition

_FEW = 2
"""Partitions that are as soon asked one by one as together, which takes two questions."""


def first_offsets(
    consumer: KafkaConsumer, places: Collection[TopicPartition], *, timeout_s: float
) -> dict[TopicPartition, int]:
    """The first offset of each partition. Raises KafkaError."""
    return _of_each(consumer.beginning_offsets, places, timeout_s)


def end_offsets(
    consumer: KafkaConsumer, places: Collection[TopicPartition], *, timeout_s: float
) -> dict[TopicPartition, int]:
    """The end of each partition. Raises KafkaError."""
    return _of_each(consumer.end_offsets, places, timeout_s)


def offsets_at(
    consumer: KafkaConsumer, at_ms: Mapping[TopicPartition, int], *, timeout_s: float
) -> dict[TopicPartition, OffsetAndTimestamp | None]:
    """The first record of each partition whose timestamp is that or a later one, None when there is none. Raises
    KafkaError.
    """
    deadline = _Within(timeout_s)
    records = _offsets_of(consumer.offsets_for_times(dict(at_ms), timeout_ms=deadline.left_ms())) if at_ms else {}
    without = [place for place in at_ms if records.get(place) is None]
    if len(without) > _FEW and _have_leaders(consumer, at_ms, deadline):
        # That they have one now says nothing of the moment when they were asked.
        retried = {place: at_ms[place] for place in without}
        return records | _offsets_of(consumer.offsets_for_times(retried, timeout_ms=deadline.left_ms()))
    for place in without:
        records |= _offsets_of(deadline.alone(consumer.offsets_for_times, place, {place: at_ms[place]}))
    return records


class _Within:
    def __init__(self, timeout_s: float) -> None:
        self._timeout_s, self._until = timeout_s, time.monotonic() + timeout_s

    def left_ms(self) -> int:
        return max(1, int((self._until - time.monotonic()) * 1000))

    def alone(self, ask: Callable[..., Any], place: TopicPartition, argument: Any) -> Any:
        try:
            return ask(argument, timeout_ms=self.left_ms())
        except KafkaTimeoutError as error:
            raise KafkaTimeoutError(
                f"no answer about partition {place.partition} of {place.topic} for {self._timeout_s:g} s: has it a "
                "leader?"
            ) from error


def _have_leaders(consumer: KafkaConsumer, places: Collection[TopicPartition], deadline: _Within) -> bool:
    """Whether the client knows all of them. Where it knows none it waits, so ask with one that it knows."""
    try:
        consumer.end_offsets(places, timeout_ms=deadline.left_ms())
    except KeyError:
        return False
    return True


def _of_each(
    ask: Callable[..., dict[TopicPartition, int]], places: Collection[TopicPartition], timeout_s: float
) -> dict[TopicPartition, int]:
    deadline = _Within(timeout_s)
    try:
        return dict(ask(places, timeout_ms=deadline.left_ms()))
    except KeyError:
        return {place: deadline.alone(ask, place, [place])[place] for place in places}


def _offsets_of(answers: Mapping[TopicPartition, Any]) -> dict[TopicPartition, OffsetAndTimestamp | None]:
    # -1 and None are two ways of Kafka's to say that there is no such record.
    return {place: match if match and match.offset >= 0 else None for place, match in answers.items()}
