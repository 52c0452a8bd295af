"""Topics of a run: made afresh for each arm, and asked for their ends."""

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta

from kafka import KafkaAdminClient
from kafka.admin import NewTopic
from kafka.errors import KafkaError, TopicAlreadyExistsError, UnknownTopicOrPartitionError

from devkit.errors import PartError
from devkit.stack.topic_reader import answering, connect, ends_of, places_of
from devkit.waiting import wait_until

_DEADLINE = timedelta(seconds=30)
_ANSWER_MS = 10_000
Ends = dict[int, int]


def recreate_topics(bootstrap: str, topics: Mapping[str, tuple[int, Mapping[str, str]]]) -> None:
    """Make each topic empty, with its number of partitions and settings. Raises StackError."""
    new = [
        # As many replicas as the broker gives by default: one has only itself, three keep one each.
        NewTopic(name, num_partitions=partitions, replication_factor=-1, topic_configs=dict(settings))
        for name, (partitions, settings) in topics.items()
    ]
    with topic_admin(bootstrap, "made") as admin:

        def made() -> bool:
            try:
                admin.create_topics(new, timeout_ms=_ANSWER_MS, wait_for_metadata=True)
            except TopicAlreadyExistsError:
                return False  # the deletion is accepted but not yet carried out
            return True

        _delete(admin, topics)
        wait_until(made, what=f"topics {', '.join(topics)} to be made afresh", deadline=_DEADLINE)


def remove_topics(bootstrap: str, topics: Iterable[str]) -> None:
    """Delete those of the topics that are there. Raises StackError."""
    with topic_admin(bootstrap, "removed") as admin:
        _delete(admin, topics)


def existing_topics(bootstrap: str, topics: Iterable[str]) -> tuple[str, ...]:
    """The topics among `topics` that exist. Raises StackError."""
    with topic_admin(bootstrap, "listed") as admin:
        return _existing(admin, topics)


@contextlib.contextmanager
def topic_admin(bootstrap: str, done: str) -> Iterator[KafkaAdminClient]:
    """A client for what is to be `done` to topics. Raises StackError for what Kafka raises."""
    try:
        admin = KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=_ANSWER_MS)
    except (KafkaError, OSError) as error:
        raise PartError(f"Kafka at {bootstrap} does not answer: {error}", "kafka") from error
    try:
        yield admin
    except KafkaError as error:
        raise PartError(f"topics at {bootstrap} could not be {done}: {error}", "kafka") from error
    finally:
        admin.close()


def _delete(admin: KafkaAdminClient, topics: Iterable[str]) -> None:
    if existing := _existing(admin, topics):
        with contextlib.suppress(UnknownTopicOrPartitionError):
            admin.delete_topics(list(existing), timeout_ms=_ANSWER_MS)


def _existing(admin: KafkaAdminClient, topics: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(admin.list_topics()) & set(topics)))


class TopicEnds:
    """Asks a broker how far topics have come. Raises StackError when there is none at `bootstrap`."""

    def __init__(self, bootstrap: str) -> None:
        self._consumer = connect(bootstrap)

    def of(self, topic: str) -> Ends:
        """The end offset of each partition. Raises StackError when the broker does not answer."""
        with answering(f"Kafka did not say where {topic} ends"):
            ends = ends_of(self._consumer, places_of(self._consumer, topic))
        return {place.partition: end for place, end in ends.items()}

    def close(self) -> None:
        """Leaves nothing at the broker: the consumer has no group and commits no offsets."""
        self._consumer.close()
