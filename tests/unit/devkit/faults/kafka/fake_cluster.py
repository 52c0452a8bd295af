"""A cluster of values: what faults ask of its admin client, and what becomes of it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from kafka.admin import AlterConfigOp, ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import (
    ElectionNotNeededError,
    InvalidReplicationFactorError,
    PreferredLeaderNotAvailableError,
    TopicAlreadyExistsError,
)
from kafka.protocol.admin import AlterClientQuotasRequest, DescribeClientQuotasRequest
from kafka.structs import TopicPartition

from devkit.faults.do import parse_do
from devkit.faults.fault import Acting, Context, Fault, Undo
from tests.unit.described_configs import described_configs

EVERYBODY = None
"""The client of a quota that holds for each."""

DEFAULTS = {
    "segment.bytes": "1073741824",
    "max.message.bytes": "1048588",
    "retention.ms": "604800000",
    "preallocate": "false",
    "leader.replication.throttled.replicas": "",
    "follower.replication.throttled.replicas": "",
}
"""Of a topic, as Kafka has them."""


@dataclass
class FakeTopic:
    """By partition: its replicas, the preferred one first, and its leader. `records` are in partition 0."""

    replicas: list[list[int]]
    leaders: list[int] = field(default_factory=list)
    settings: dict[str, str] = field(default_factory=dict)
    topic_id: str = "first"
    records: int = 0
    records_above: dict[int, int] = field(default_factory=dict)
    moving: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.leaders = self.leaders or [replicas[0] for replicas in self.replicas]


@dataclass
class FakeCluster:
    """`asked` are the calls that change something. `deaf` ones are taken and not carried out."""

    topics: dict[str, FakeTopic] = field(default_factory=dict)
    brokers: tuple[int, ...] = (1, 2, 3)
    cluster_id: str = "cluster-a"
    quotas: dict[str | None, dict[str, float]] = field(default_factory=dict)
    broker_settings: dict[int, dict[str, str]] = field(default_factory=dict)
    asked: list[tuple[str, Any]] = field(default_factory=list)
    deaf: frozenset[str] = frozenset()
    refusals: dict[str, Any] = field(default_factory=dict)
    """What is answered to a call that is refused, as the client gives it."""
    elections_in_vain: int = 0
    """How many elections find the preferred replica not in sync yet."""
    moves_slowly: bool = False
    still_deleting: int = 0
    """How often a deleted topic is said to be there yet."""
    closed: int = 0

    def hears(self, call: str, of: object) -> bool:
        self.asked.append((call, of))
        return call not in self.deaf

    def calls(self) -> list[str]:
        return [call for call, _ in self.asked]


class FakeAdmin:
    """What `KafkaAdminClient` answers, as far as faults ask it."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster
        self._manager = SimpleNamespace(send=self._send, run=lambda call, request: call(request))

    def close(self) -> None:
        self._cluster.closed += 1

    def list_topics(self) -> list[str]:
        return list(self._cluster.topics)

    def describe_cluster(self) -> dict[str, Any]:
        brokers = [{"broker_id": one, "host": "broker", "port": one} for one in reversed(self._cluster.brokers)]
        return {"cluster_id": self._cluster.cluster_id, "brokers": brokers}

    def describe_topics(self, names: Sequence[str]) -> list[dict[str, Any]]:
        return [self._described(name) for name in names]

    def _described(self, name: str) -> dict[str, Any]:
        topic = self._cluster.topics.get(name)
        if topic is None:
            return {"error_code": 3, "topic_id": "", "partitions": []}
        partitions = [
            {"partition_index": number, "leader_id": leader, "replica_nodes": replicas, "isr_nodes": replicas}
            for number, (leader, replicas) in enumerate(zip(topic.leaders, topic.replicas, strict=True))
        ]
        return {"error_code": 0, "topic_id": topic.topic_id, "partitions": partitions}

    def create_partitions(self, counts: Mapping[str, int]) -> None:
        if self._cluster.hears("create_partitions", counts):
            for name, count in counts.items():
                topic = self._cluster.topics[name]
                topic.replicas += [topic.replicas[0]] * (count - len(topic.replicas))
                topic.leaders += [topic.leaders[0]] * (count - len(topic.leaders))

    def delete_topics(self, names: Sequence[str]) -> None:
        if self._cluster.hears("delete_topics", names):
            for name in names:
                del self._cluster.topics[name]

    def create_topics(self, topics: Mapping[str, Mapping[str, Any]], *, wait_for_metadata: bool) -> None:
        assert wait_for_metadata
        cluster = self._cluster
        if not cluster.hears("create_topics", topics):
            return
        for name, options in topics.items():
            if cluster.still_deleting or name in cluster.topics:
                cluster.still_deleting -= 1
                raise TopicAlreadyExistsError
            if options["replication_factor"] > len(cluster.brokers):
                raise InvalidReplicationFactorError
            replicas = [list(cluster.brokers[: options["replication_factor"]])] * options["num_partitions"]
            cluster.topics[name] = FakeTopic(replicas, settings=dict(options["configs"]), topic_id="second")

    def describe_configs(
        self, resources: Sequence[ConfigResource], config_filter: ConfigFilterType | str = "modified"
    ) -> dict[str, Any]:
        (resource,) = resources
        source = f"DYNAMIC_{resource.resource_type.name}_CONFIG"
        defaults = DEFAULTS if resource.resource_type is ConfigResourceType.TOPIC else {}
        default = {key: (value, "DEFAULT_CONFIG") for key, value in defaults.items()}
        own = {key: (value, source) for key, value in self._settings(resource).items()}
        return described_configs({resource.name: default | own}, resources, config_filter)

    def _settings(self, resource: ConfigResource) -> dict[str, str]:
        if resource.resource_type is ConfigResourceType.TOPIC:
            return self._cluster.topics[resource.name].settings
        return self._cluster.broker_settings.setdefault(int(resource.name), {})

    def alter_configs(self, resources: Sequence[ConfigResource], *, raise_on_unknown: bool) -> dict[str, Any]:
        (resource,) = resources
        changes = {key: value if op is AlterConfigOp.SET else None for key, (op, value) in resource.configs.items()}
        (known,) = self.describe_configs(resources, "dynamic").values()
        if raise_on_unknown and (unknown := changes.keys() - known[resource.name].keys()):
            raise ValueError(f"Unrecognized configs: {unknown}")
        outcome = self._cluster.refusals.get("alter_configs", "OK")
        answer = {resource.resource_type.name.lower(): {resource.name: outcome}}
        if not self._cluster.hears("alter_configs", (resource.name, changes)) or outcome != "OK":
            return answer
        settings = self._settings(resource)
        for key, value in changes.items():
            settings.pop(key, None)
            if value is not None:
                settings[key] = value
        return answer

    def alter_partition_reassignments(
        self, moves: Mapping[TopicPartition, list[int] | None], timeout_ms: int
    ) -> dict[TopicPartition, Any]:
        assert timeout_ms
        answer = dict.fromkeys(moves, self._cluster.refusals.get("move"))
        if not self._cluster.hears("move", moves) or any(answer.values()):
            return answer
        for (name, number), replicas in moves.items():
            topic = self._cluster.topics[name]
            topic.moving.discard(number)
            if replicas is None:
                continue
            if self._cluster.moves_slowly:
                topic.moving.add(number)
            else:
                topic.replicas[number] = replicas
        return answer

    def list_partition_reassignments(self, places: Sequence[TopicPartition], timeout_ms: int) -> list[TopicPartition]:
        assert timeout_ms
        return [place for place in places if place.partition in self._cluster.topics[place.topic].moving]

    def elect_leaders(
        self, kind: int, partitions: Mapping[str, Sequence[int]], timeout_ms: int, *, raise_errors: bool
    ) -> Any:
        assert (kind, raise_errors) == (0, False)
        assert timeout_ms
        code = 0
        if self._cluster.elections_in_vain:
            self._cluster.elections_in_vain -= 1
            code = PreferredLeaderNotAvailableError.errno
        elif self._cluster.hears("elect", partitions):
            for name, numbers in partitions.items():
                topic = self._cluster.topics[name]
                for number in numbers:
                    preferred = topic.replicas[number][0]
                    code = ElectionNotNeededError.errno if topic.leaders[number] == preferred else 0
                    topic.leaders[number] = preferred
        places = [SimpleNamespace(error_code=code)]
        return SimpleNamespace(error_code=0, replica_election_results=[SimpleNamespace(partition_result=places)])

    def _send(self, request: Any) -> Any:
        answer = SimpleNamespace(error_code=0, error_message=None)
        if isinstance(request, DescribeClientQuotasRequest):
            ((entity, match, client),) = request.components
            assert (entity, match) == ("client-id", 1 if client is EVERYBODY else 0)
            values = [SimpleNamespace(key=key, value=value) for key, value in self._of(client).items()]
            return SimpleNamespace(**vars(answer), entries=[SimpleNamespace(values=values)] if values else None)
        assert isinstance(request, AlterClientQuotasRequest)
        assert not request.validate_only
        (([(entity, client)], operations),) = request.entries
        assert entity == "client-id"
        if "refused" in self._cluster.deaf:
            return SimpleNamespace(entries=[SimpleNamespace(error_code=42, error_message="no such quota")])
        changes = {key: None if remove else value for key, value, remove in operations}
        if self._cluster.hears("quota", (client, changes)):
            for key, value in changes.items():
                self._of(client).pop(key, None)
                if value is not None:
                    self._of(client)[key] = value
        return SimpleNamespace(entries=[answer])

    def _of(self, client: str | None) -> dict[str, float]:
        return self._cluster.quotas.setdefault(client, {})


class Case:
    """A fault on a cluster of values, with the plans that it made, and what had been asked when it made them."""

    def __init__(self, cluster: FakeCluster, written: Mapping[str, object], *, is_guest: bool = False) -> None:
        self.cluster, self.plans, self.asked_before = cluster, list[Undo](), list[list[str]]()
        self.fault: Fault = parse_do(written)
        topics = {"output": "out", "error": "err", "source": "in"}
        self.context = Context({}, "broker:1", self._plan, topics=topics, is_guest=is_guest)

    def _plan(self, undo: Undo) -> None:
        self.plans.append(undo)
        self.asked_before.append(self.cluster.calls())

    def begin(self) -> Acting:
        acting = self.fault.begin(self.context)
        assert self.plans, "what has begun is in the journal"
        assert self.asked_before[0] == [], "the journal is written before anything is done"
        return acting

    def undo_from_journal(self) -> None:
        """As another process would, which has the written plan alone."""
        for plan in self.plans:
            type(self.fault).undo(Undo.model_validate_json(plan.model_dump_json()))


Play = Callable[..., Case]
