"""Ranges of offsets, read once and whole with a consumer of the caller's: the planner's, a task's, an operator's."""

from collections.abc import Callable, Iterator, Mapping

from kafka import KafkaConsumer
from kafka.consumer.fetcher import ConsumerRecord
from kafka.structs import TopicPartition

Enough = Callable[[TopicPartition, ConsumerRecord], bool]

_POLL_MS = 200


class SilentError(Exception):
    """The brokers sent nothing of what is to be read for as long as the caller waits."""


def read_ranges(
    consumer: KafkaConsumer,
    ranges: Mapping[TopicPartition, tuple[int, int]],
    *,
    clock: Callable[[], float],
    answer_s: float,
    enough: Enough | None = None,
) -> Iterator[tuple[TopicPartition, list[ConsumerRecord]]]:
    """All records of each partition from the first offset up to and without the second, in their order; none behind the
    first of a partition for which `enough` is true.

    Raises SilentError after `answer_s` seconds without one, and what the consumer raises.
    """
    stops = {place: stop for place, (start, stop) in ranges.items() if start < stop}
    if stops:
        # In place of a pause: records of a paused partition that were fetched already keep its client from ever
        # fetching others of it, when it is to be read elsewhere.
        consumer.assign(list(stops))
    for place in stops:
        consumer.seek(place, ranges[place][0])
    last_record_at = clock()
    while stops:
        polled = consumer.poll(timeout_ms=_POLL_MS)
        finished = []
        for place, records in polled.items():
            wanted = [record for record in records if record.offset < stops.get(place, 0)]
            if enough is not None:
                last_index = next((index for index, record in enumerate(wanted) if enough(place, record)), None)
                if last_index is not None:
                    wanted = wanted[: last_index + 1]
                    finished.append(place)
            if wanted:
                yield place, wanted
        # The stop may be a gap: offsets that compaction or a transaction removed have no record.
        finished += [place for place, stop in stops.items() if (consumer.position(place) or 0) >= stop]
        if polled or finished:
            last_record_at = clock()
        elif clock() - last_record_at > answer_s:
            raise SilentError
        if finished:
            stops = {place: stop for place, stop in stops.items() if place not in finished}
            if stops:
                consumer.assign(list(stops))
