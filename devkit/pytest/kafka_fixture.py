"""The broker of a test session: topics on demand, and records into them and out of them."""

import json
import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from types import MappingProxyType
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError

from devkit.errors import PartError, UsageError
from devkit.pytest.quiet import quiet_libraries
from devkit.stack.parts.kafka import KafkaBroker
from devkit.stack.topic_reader import (
    LARGE,
    TopicRecord,
    answering,
    connect,
    ends_of,
    has_read,
    places_of,
    require_topic,
)
from devkit.stack.topics import existing_topics, recreate_topics, remove_topics
from devkit.waiting import wait_until
from pipeline.kafka.long_lived import LONG_LIVED

Value = bytes | str | Mapping[str, Any] | None
"""Of a record: bytes as they are, text as UTF-8, a mapping as JSON, None as a tombstone."""

_ACKNOWLEDGED_S = 30.0
_MAX_REQUEST_BYTES = 32 * 1024 * 1024
_NO_SETTINGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True)
class TestKafka(KafkaBroker):
    """A broker, or several: programs under test begin at `bootstrap`, the methods here use `direct`."""

    __test__ = False  # for pytest: it is no class of tests

    _made: list[str] = field(default_factory=list, repr=False, compare=False)

    def topic(self, name: str | None = None, *, partitions: int = 1, settings: Mapping[str, str] = _NO_SETTINGS) -> str:
        """Make a topic, and return its name: by default a new one. A topic that this fixture made before is made anew,
        and is empty.

        `settings` are Kafka's, such as `{"cleanup.policy": "compact"}`. Raises UsageError for a topic of others, and
        StackError when the broker does not answer.
        """
        if partitions < 1:
            raise UsageError(f"a topic of {partitions} partitions", hint="it has at least one")
        topic = f"test-{secrets.token_hex(6)}" if name is None else name
        with quiet_libraries():
            if topic not in self._made and existing_topics(self.direct, [topic]):
                raise UsageError(
                    f"a topic {topic} is there already", hint="leave out the name, or use it without making it"
                )
            recreate_topics(self.direct, {topic: (partitions, settings)})
        if topic not in self._made:
            self._made.append(topic)
        return topic

    def produce(
        self,
        topic: str,
        values: Iterable[Value],
        *,
        key: bytes | str | None = None,
        partition: int | None = None,
        headers: Mapping[str, bytes] = MappingProxyType({}),
    ) -> None:
        """Write a record for each value, and return when the broker has acknowledged all of them.

        All get the same key and headers; without a partition, Kafka's default partitioner chooses it. Raises UsageError
        where there is no such topic, and StackError for what Kafka refuses.
        """
        if isinstance(values, bytes | str | Mapping):
            raise UsageError(f"values must be a list of values, got one {type(values).__name__}", hint="[value]")
        with quiet_libraries():
            self._require(topic)
            producer = KafkaProducer(
                bootstrap_servers=self.direct,
                client_id="devkit-pytest",
                acks="all",
                enable_idempotence=True,
                linger_ms=0,
                max_request_size=_MAX_REQUEST_BYTES,
                **LONG_LIVED,
            )
            try:
                sent = [
                    producer.send(
                        topic,
                        key=_as_bytes(key),
                        value=_as_bytes(value),
                        partition=partition,
                        headers=list(headers.items()),
                    )
                    for value in values
                ]
                for record in sent:
                    record.get(timeout=_ACKNOWLEDGED_S)
            except (KafkaError, ValueError) as error:
                # ValueError: there is no such partition.
                raise PartError(f"writing to {topic} failed: {error}", "kafka") from error
            finally:
                producer.close(timeout=_ACKNOWLEDGED_S)

    def consume(self, topic: str, count: int | None = None, *, timeout: float = 30.0) -> list[TopicRecord]:
        """The first `count` records of a topic from its beginning, as they come; without `count`, all up to its present
        end. Order is kept within a partition. The consumer has no group.

        Waits up to `timeout` seconds. Raises WaitTimeoutError with the number that came, and UsageError where there is
        no such topic.
        """
        records: list[TopicRecord] = []
        with quiet_libraries():
            consumer = connect(self.direct, client_id="devkit-pytest", **LARGE)
            try:
                require_topic(consumer, topic)
                with answering(f"reading {topic} failed"):
                    places = places_of(consumer, topic)
                    consumer.assign(places)
                    ends = ends_of(consumer, places)

                    def is_complete() -> bool:
                        for batch in consumer.poll(timeout_ms=100).values():
                            records.extend(map(TopicRecord.of, batch))
                        if count is None:
                            return has_read(consumer, ends)
                        return len(records) >= count

                    wait_until(
                        lambda: is_complete() or None,
                        what=f"{'all' if count is None else count} records of {topic}",
                        deadline=timedelta(seconds=timeout),
                        interval=timedelta(0),
                    )
            finally:
                consumer.close()
        return records[:count]

    def remove_topics(self) -> None:
        """Remove all topics that it made; for a broker that lives on. Raises StackError."""
        with quiet_libraries():
            remove_topics(self.direct, self._made)
        self._made.clear()

    def _require(self, topic: str) -> None:
        consumer = connect(self.direct, client_id="devkit-pytest")
        try:
            with answering(f"looking for {topic} failed"):
                require_topic(consumer, topic)
        finally:
            consumer.close()


def _as_bytes(value: Value) -> bytes | None:
    if value is None or isinstance(value, bytes):
        return value
    return (value if isinstance(value, str) else json.dumps(value)).encode()
