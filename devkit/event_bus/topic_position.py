"""How far the topics of a stream have come: the newest change of the feed that one of them has a record of.

Each record of the bus says in its headers which change it is of; a canary names the last one before it. The bus waits
for the answer to one record before it sends the next one, so the newest record says that all before it are there.
Records of others may stand between them.
"""

from collections.abc import Iterable
from datetime import timedelta

from kafka import KafkaConsumer
from kafka.structs import TopicPartition

from devkit.stack.topic_reader import LARGE, answering, begins_of, connect, ends_of, has_read, places_of, require_topic
from devkit.waiting import wait_until

FEED_HEADER = "mock-feed"
CHANGE_HEADER = "mock-change"

Headers = tuple[tuple[str, bytes], ...]

_READ_AT_ONCE = 500
_POLL_MS = 200
_DEADLINE = timedelta(seconds=30)


def headers_of(feed: str, n: int) -> Headers:
    """The headers of the record of change `n`."""
    return (FEED_HEADER, feed.encode()), (CHANGE_HEADER, str(n).encode())


def change_of(headers: Iterable[tuple[str, bytes | None]]) -> tuple[str, int] | None:
    """Feed and number of the change; None for a record that the bus did not write."""
    values = {name: value for name, value in headers if value is not None}
    feed, n = values.get(FEED_HEADER), values.get(CHANGE_HEADER)
    if feed is None or n is None or not n.isdigit():
        return None
    return feed.decode(errors="replace"), int(n)


def last_published(bootstrap: str, topics: Iterable[str], feed: str) -> int:
    """The newest change of `feed` that the topics have, 0 for none. Raises StackError, UsageError without a topic."""
    consumer = connect(bootstrap, **LARGE)
    last = 0
    try:
        for topic in topics:
            with answering(f"topic {topic} could not be read"):
                require_topic(consumer, topic)
                places = places_of(consumer, topic)
                consumer.assign(places)
                begins, ends = begins_of(consumer, places), ends_of(consumer, places)
                last = max(last, *(_last_in(consumer, place, begins[place], ends[place], feed) for place in places))
    finally:
        consumer.close()
    return last


def _last_in(consumer: KafkaConsumer, place: TopicPartition, begin: int, end: int, feed: str) -> int:
    """Reads backwards up to a record of the bus: one of another feed says that this one has none here."""
    while end > begin:
        start = max(begin, end - _READ_AT_ONCE)
        changes = _changes_between(consumer, place, start, end)
        if changes:
            last_feed, n = changes[-1]
            return n if last_feed == feed else 0
        end = start
    return 0


def _changes_between(consumer: KafkaConsumer, place: TopicPartition, start: int, end: int) -> list[tuple[str, int]]:
    """Of the records at the offsets from `start` to before `end`, in their order."""
    changes: list[tuple[str, int]] = []
    consumer.pause(*consumer.assignment())
    consumer.resume(place)
    consumer.seek(place, start)

    def is_read() -> bool:
        records = consumer.poll(timeout_ms=_POLL_MS).get(place, ())
        of_bus = (change_of(record.headers) for record in records if record.offset < end)
        changes.extend(change for change in of_bus if change is not None)
        return has_read(consumer, {place: end})

    what = f"{place.topic}/{place.partition} to be read from {start} to {end}"
    wait_until(is_read, what=what, deadline=_DEADLINE, interval=timedelta(0))
    return changes
