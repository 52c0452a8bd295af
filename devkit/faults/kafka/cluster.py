"""A Kafka cluster as faults use it: an admin client that survives the loss of a broker."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

from kafka import KafkaAdminClient
from kafka.admin import AlterConfigOp, ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import (
    ElectionNotNeededError,
    KafkaConnectionError,
    KafkaError,
    NodeNotReadyError,
    NoError,
    NoReassignmentInProgressError,
    UnknownBrokerIdError,
)
from kafka.structs import TopicPartition

from devkit.errors import PartError, StackError, WaitTimeoutError
from devkit.faults.fault import Context
from devkit.stack.topics import TopicEnds
from devkit.waiting import wait_until
from located_config.count import counted

_ANSWER_MS = 10_000
_SETTLING = timedelta(seconds=30)
_LEARNING = timedelta(seconds=10)
_BACK = timedelta(seconds=60)
_OK = "OK"
_ID_OF_IMAGE = "5L6g3nShT-eMCtK--X86sw"
"""The default cluster id of Kafka's own container image."""
T = TypeVar("T")


@dataclass(frozen=True)
class Replicas:
    """Where a partition lies; the first replica is the one that is preferred as its leader."""

    leader: int
    replicas: tuple[int, ...]
    in_sync: frozenset[int]


class Cluster:
    """Raises StackError for all that the broker refuses."""

    def __init__(self, bootstrap: str) -> None:
        self.admin, self._bootstrap = _connect(bootstrap), bootstrap
        self._silence: KafkaError | None = None

    def close(self) -> None:
        """Safe to call twice; `ask` closes the client of a broker that does not answer, and makes another."""
        self.admin.close()

    def ask(self, call: Callable[[KafkaAdminClient], T]) -> T:
        """Repeat an idempotent call until a broker answers: the client may have chosen one that is dead for a while."""

        def answer() -> tuple[T] | None:
            try:
                return (call(self.admin),)
            except (KafkaConnectionError, NodeNotReadyError, UnknownBrokerIdError) as error:
                self._silence = error
                # A client goes on to ask the broker that it once chose.
                self.close()
                self.admin = _connect(self._bootstrap)
                return None

        try:
            (answered,) = wait_until(answer, what="a broker to answer", deadline=_BACK)
        except WaitTimeoutError as error:
            raise PartError(f"Kafka at {self._bootstrap} does not answer: {self._silence}", "kafka") from error
        return answered

    def partitions(self, topic: str) -> Mapping[int, Replicas]:
        """Raises StackError when there is no such topic."""
        (description,) = self.ask(lambda admin: admin.describe_topics([topic]))
        if description["error_code"]:
            raise StackError(f"Kafka has no topic {topic!r}", hint=f"there are: {', '.join(sorted(self.topics()))}")
        return {
            partition["partition_index"]: Replicas(
                partition["leader_id"], tuple(partition["replica_nodes"]), frozenset(partition["isr_nodes"])
            )
            for partition in description["partitions"]
        }

    def partition(self, topic: str, number: int) -> Replicas:
        """Raises StackError when there is no such topic or partition."""
        partitions = self.partitions(topic)
        if number not in partitions:
            raise StackError(f"topic {topic} has {counted(len(partitions), 'partition')}, and none of number {number}")
        return partitions[number]

    def topic_id(self, topic: str) -> str:
        """A topic that is made again has another."""
        (description,) = self.ask(lambda admin: admin.describe_topics([topic]))
        return str(description["topic_id"])

    def topics(self) -> Sequence[str]:
        """Names of all topics, Kafka's internal ones included."""
        return list(self.ask(lambda admin: admin.list_topics()))

    def records(self, topic: str, *, from_partition: int = 0) -> int:
        """The sum of its end offsets, or of those of its partitions from that number on."""
        with contextlib.closing(TopicEnds(self._bootstrap)) as ends:
            return sum(end for partition, end in ends.of(topic).items() if partition >= from_partition)

    def cluster_id(self) -> str:
        """The same by whatever address it is asked, but for one that has only the id that its image gives to all."""
        description = self.ask(lambda admin: admin.describe_cluster())
        if description["cluster_id"] != _ID_OF_IMAGE:
            return str(description["cluster_id"])
        addresses = sorted(f"{broker['host']}:{broker['port']}" for broker in description["brokers"])
        return f"{_ID_OF_IMAGE} at {', '.join(addresses)}"

    def brokers(self) -> tuple[int, ...]:
        """Ids of those that are up, ascending."""
        description = self.ask(lambda admin: admin.describe_cluster())
        return tuple(sorted(broker["broker_id"] for broker in description["brokers"]))

    def await_broker(self, broker: int) -> None:
        """Wait until it is in the cluster, as one that was killed is not for a time."""
        wait_until(lambda: broker in self.brokers(), what=f"broker {broker} to be there", deadline=_BACK)

    def settings(self, topic: str) -> dict[str, str]:
        """The settings that were set on the topic itself."""
        own = "DYNAMIC_TOPIC_CONFIG"
        settings = self._settings(ConfigResourceType.TOPIC, topic)
        return {key: value for key, (value, source) in settings.items() if source == own}

    def effective_settings(self, topic: str) -> dict[str, str]:
        """Its own, and what holds for it where it has none."""
        return {key: value for key, (value, _) in self._settings(ConfigResourceType.TOPIC, topic).items()}

    def broker_settings(self, broker: int) -> dict[str, str]:
        """The settings that were set on this one broker while it ran."""
        own = "DYNAMIC_BROKER_CONFIG"
        settings = self._settings(ConfigResourceType.BROKER, str(broker))
        return {key: value for key, (value, source) in settings.items() if source == own}

    def _settings(self, kind: ConfigResourceType, name: str) -> dict[str, tuple[str, str]]:
        """Value and source by key, of all that the broker knows: by default the client leaves out Kafka's defaults."""
        resources = [ConfigResource(kind, name)]
        configs = self.ask(lambda admin: admin.describe_configs(resources, config_filter=ConfigFilterType.ALL))
        return {
            key: (str(entry["value"]), entry["config_source"])
            for resources in configs.values()
            for entries in resources.values()
            for key, entry in entries.items()
        }

    def alter_topic(self, topic: str, settings: Mapping[str, str | None]) -> None:
        """Set, or with None remove, settings of a topic; wait until the brokers that are asked know of it."""
        self._alter(ConfigResourceType.TOPIC, topic, settings)

        def is_known() -> bool:
            now = self.settings(topic)
            return all(now.get(key) == value for key, value in settings.items())

        wait_until(is_known, what=f"the settings of topic {topic} to be known", deadline=_SETTLING)

    def alter_broker(self, broker: int, settings: Mapping[str, str | None]) -> None:
        """The same of a broker."""
        self._alter(ConfigResourceType.BROKER, str(broker), settings)

    def move(self, topic: str, partition: int, replicas: Sequence[int] | None) -> None:
        """Begin to move a partition to these brokers; None cancels a move that goes on, if one does."""
        moved = TopicPartition(topic, partition)
        moves = {moved: list(replicas) if replicas else None}
        answer = self.ask(lambda admin: admin.alter_partition_reassignments(moves, timeout_ms=_ANSWER_MS))
        refusal = answer.get(moved)
        if refusal is not None and not (replicas is None and refusal is NoReassignmentInProgressError):
            raise StackError(
                f"Kafka did not move partition {partition} of {topic} to {replicas}: {refusal.__name__}",
                hint=refusal.description or None,
            )

    def is_moving(self, topic: str, partition: int) -> bool:
        """Whether a reassignment goes on, begun by the kit or by anyone else."""
        moved = TopicPartition(topic, partition)
        return moved in self.ask(lambda admin: admin.list_partition_reassignments([moved], timeout_ms=_ANSWER_MS))

    def require_still(self, topic: str, partition: int) -> None:
        """Raises StackError when something else moves the partition: to undo our own move would cancel that one."""
        if self.is_moving(topic, partition):
            raise StackError(
                f"partition {partition} of {topic} is being moved already, and not by the kit",
                hint="wait until it has moved; `kafka-reassign-partitions --list` shows what moves",
            )

    def await_moved(self, topic: str, partition: int) -> None:
        """Raises WaitTimeoutError after 30 s."""
        wait_until(
            lambda: not self.is_moving(topic, partition), what=f"partition {partition} to move", deadline=_SETTLING
        )

    def elect(self, topic: str, partition: int, leader: int) -> None:
        """Have the preferred replica, which is `leader`, lead; wait until it does, when it is in sync."""
        preferred = {topic: [partition]}

        def is_elected() -> bool:
            """Asks the controller: a broker that was just started still reports the leader from before its death."""
            answer = self.ask(
                lambda admin: admin.elect_leaders(0, preferred, timeout_ms=_ANSWER_MS, raise_errors=False)
            )
            elections = [result for topic in answer.replica_election_results for result in topic.partition_result]
            codes = {answer.error_code, *(election.error_code for election in elections)}
            return codes <= {NoError.errno, ElectionNotNeededError.errno}

        what = f"the leader of partition {partition} of {topic} to change"
        wait_until(is_elected, what=what, deadline=_BACK)
        wait_until(lambda: self.partition(topic, partition).leader == leader, what=what, deadline=_SETTLING)

    def _alter(self, kind: ConfigResourceType, name: str, settings: Mapping[str, str | None]) -> None:
        operations = {
            key: (AlterConfigOp.DELETE, None) if value is None else (AlterConfigOp.SET, value)
            for key, value in settings.items()
        }
        # Of brokers the client does not know all that may be set, such as the rates of a throttle.
        is_known = kind is not ConfigResourceType.BROKER
        try:
            resources = [ConfigResource(kind, name, operations)]
            answer = self.ask(lambda admin: admin.alter_configs(resources, raise_on_unknown=is_known))
        except ValueError as error:
            raise StackError(f"Kafka knows no such setting of a {kind.name.lower()}: {error}") from error
        kind_name = kind.name.lower()
        if (code := answer[kind_name][name]) != _OK:
            raise PartError(f"Kafka did not change settings of {kind_name} {name}: {code}", "kafka")


@contextlib.contextmanager
def cluster(bootstrap: str) -> Iterator[Cluster]:
    """Raises StackError for what Kafka raises."""
    client = Cluster(bootstrap)
    try:
        yield client
    except KafkaError as error:
        raise PartError(f"Kafka at {bootstrap} refused: {error}", "kafka") from error
    finally:
        client.close()


def _connect(bootstrap: str) -> KafkaAdminClient:
    """Raises StackError."""
    try:
        return KafkaAdminClient(bootstrap_servers=bootstrap.split(","), bootstrap_timeout_ms=_ANSWER_MS)
    except (KafkaError, OSError, ValueError) as error:
        raise PartError(f"Kafka at {bootstrap} does not answer: {error}", "kafka") from error


def becomes_true(condition: Callable[[], bool]) -> bool:
    """Whether it does in the time in which every broker has learnt of a change: the next may be asked too early."""
    with contextlib.suppress(WaitTimeoutError):
        return wait_until(condition, what="every broker to know", deadline=_LEARNING)
    return False


def resolve_topic(context: Context, topic: str) -> str:
    """The topic that plays a role in the arm (source, output, error, deferred), or the one of that name."""
    return context.topics.get(topic, topic)


def cluster_id(bootstrap: str) -> str:
    """The id of the cluster that answers there. Raises StackError."""
    with cluster(bootstrap) as kafka:
        return kafka.cluster_id()
