"""Topics of a run: made afresh for each arm, and asked for their ends."""

import contextlib
from collections.abc import Mapping
from datetime import timedelta

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError
from kafka.structs import TopicPartition

from devkit.errors import StackError
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=30)
Ends = dict[int, int]


def recreate_topics(bootstrap: str, topics: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
    """Make each topic empty, with its number of partitions and settings. Raises StackError."""
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    except (KafkaError, OSError) as error:
        raise StackError(f"Kafka at {bootstrap} does not answer: {error}") from error
    new = [
        NewTopic(name, num_partitions=partitions, replication_factor=1, topic_configs=dict(settings))
        for name, (partitions, settings) in topics.items()
    ]

    def made() -> bool:
        try:
            admin.create_topics(new, timeout_ms=10_000, wait_for_metadata=True)
        except TopicAlreadyExistsError:
            return False  # the deletion is accepted but not yet carried out
        return True

    try:
        existing = set(admin.list_topics()) & set(topics)
        if existing:
            with contextlib.suppress(UnknownTopicOrPartitionError):
                admin.delete_topics(sorted(existing), timeout_ms=10_000)
        wait_until(made, what=f"topics {', '.join(topics)} to be made afresh", deadline=_DEADLINE)
    except KafkaError as error:
        raise StackError(f"topics at {bootstrap} could not be made: {error}") from error
    finally:
        admin.close()


class TopicEnds:
    """Asks a broker how far topics have come. Raises StackError when there is none at `bootstrap`."""

    def __init__(self, bootstrap: str) -> None:
        try:
            self._consumer = KafkaConsumer(bootstrap_servers=bootstrap, enable_auto_commit=False)
        except (KafkaError, OSError) as error:
            raise StackError(f"Kafka at {bootstrap} does not answer: {error}") from error

    def of(self, topic: str) -> Ends:
        """The end offset of each partition. Raises StackError when the broker does not answer."""
        try:
            partitions = self._consumer.partitions_for_topic(topic) or set()
            ends = self._consumer.end_offsets([TopicPartition(topic, number) for number in sorted(partitions)])
        except (KafkaError, OSError) as error:
            raise StackError(f"Kafka did not say where {topic} ends: {error}") from error
        return {place.partition: end for place, end in ends.items()}

    def close(self) -> None:
        self._consumer.close()
