"""Requests and responses that errors are put into, in kafka-python's classes; they know all versions up to Kafka 4.3.

kafka-python generates its classes from Kafka's own schemas, so their fields have no static types.
"""

import struct
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple
from uuid import UUID

from kafka.protocol.consumer import (
    FetchRequest,
    FetchResponse,
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetFetchRequest,
    OffsetFetchResponse,
    SyncGroupRequest,
    SyncGroupResponse,
)
from kafka.protocol.metadata import FindCoordinatorRequest, FindCoordinatorResponse
from kafka.protocol.producer import InitProducerIdRequest, InitProducerIdResponse, ProduceRequest, ProduceResponse
from typing_extensions import override

from devkit.proxy.kafka.errors import Api

_UNDECODABLE = (ValueError, IndexError, KeyError, TypeError, AttributeError, struct.error)


class UndecodableError(Exception):
    """The codec does not know the version, or the bytes are not of it."""


class Target(NamedTuple):
    """A partition in a request, or all of a request that has none (`partition` -1).

    `topic` is "" for an id that no metadata had; `written` is the topic as the request has it: a name, or an id.
    """

    topic: str
    partition: int
    written: str | UUID


WHOLE_REQUEST: Final = Target("", -1, "")


@dataclass(frozen=True)
class KafkaApi(ABC):
    """One API of the protocol: how errors are put into its responses."""

    name: Api
    request: Any
    response: Any

    @property
    def key(self) -> int:
        """Kafka's number for it."""
        return int(self.request.API_KEY)

    def is_flexible(self, version: int) -> bool:
        """Whether headers and bodies of this version have tagged fields."""
        return bool(self.request.flexible_version_q(version))

    def knows(self, version: int) -> bool:
        """Whether the codec does."""
        return 0 <= version <= int(self.request.max_version)

    def decode_request(self, body: bytes, version: int) -> Any:
        """Raises UndecodableError."""
        return decode(self.request, body, version)

    def decode_response(self, body: bytes, version: int) -> Any:
        """Raises UndecodableError."""
        return decode(self.response, body, version)

    @abstractmethod
    def targets(self, request: Any, names: Mapping[UUID, str]) -> list[Target]:
        """All that a request asks for; `names` are those of topics by id."""

    @abstractmethod
    def strip(self, request: Any, targets: Collection[Target]) -> None:
        """Take these out of a request that has others too."""

    @abstractmethod
    def refusal(self, request: Any, version: int) -> Any:
        """A response to `request` to which nothing is added yet."""

    @abstractmethod
    def put_error(self, response: Any, targets: Sequence[Target], code: int) -> None:
        """Have the response say that these failed, in place of what it says of them."""

    @abstractmethod
    def is_success(self, response: Any, targets: Collection[Target]) -> bool:
        """Whether the broker did what it was asked for these."""


@dataclass(frozen=True)
class PartitionApi(KafkaApi):
    """Requests and responses are lists of topics, each a list of partitions; the paths are the fields' names.

    `failed` are the fields of a partition that failed, beside its error code, as the broker writes them.
    """

    asked: tuple[str, str, str]
    answered: tuple[str, str, str]
    topic_field: str = "name"
    failed: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))

    @override
    def targets(self, request: Any, names: Mapping[UUID, str]) -> list[Target]:
        return [self._target(topic, partition, names) for topic, partition in _pairs(request, self.asked)]

    @override
    def strip(self, request: Any, targets: Collection[Target]) -> None:
        topics, partitions, index = self.asked
        gone = {(target.written, target.partition) for target in targets}
        for topic in getattr(request, topics):
            written = self._written(topic)
            kept = [one for one in getattr(topic, partitions) if (written, getattr(one, index)) not in gone]
            setattr(topic, partitions, kept)
        setattr(request, topics, [topic for topic in getattr(request, topics) if getattr(topic, partitions)])

    @override
    def refusal(self, request: Any, version: int) -> Any:
        return self.response(version=version, **{self.answered[0]: []})

    @override
    def put_error(self, response: Any, targets: Sequence[Target], code: int) -> None:
        for target in targets:
            partition = self._answered_partition(response, target)
            partition.error_code = code
            for name, value in self.failed.items():
                setattr(partition, name, value)

    @override
    def is_success(self, response: Any, targets: Collection[Target]) -> bool:
        asked = {(target.written, target.partition) for target in targets}
        codes = [
            partition.error_code
            for topic, partition in _pairs(response, self.answered)
            if (self._written(topic), getattr(partition, self.answered[2])) in asked
        ]
        return len(codes) == len(asked) and not any(codes)

    def _answered_partition(self, response: Any, target: Target) -> Any:
        """What the response has of it, or else a new entry."""
        topics, partitions, index = self.answered
        topic_class = self.response.fields[topics].data_class
        partition_class = topic_class.fields[partitions].data_class
        version = response.version
        topic = next((one for one in getattr(response, topics) if self._written(one) == target.written), None)
        if topic is None:
            key = "topic_id" if isinstance(target.written, UUID) else self.topic_field
            topic = topic_class(version=version, **{key: target.written, partitions: []})
            getattr(response, topics).append(topic)
        for partition in getattr(topic, partitions):
            if getattr(partition, index) == target.partition:
                return partition
        partition = partition_class(version=version, **{index: target.partition})
        getattr(topic, partitions).append(partition)
        return partition

    def _target(self, topic: Any, partition: Any, names: Mapping[UUID, str]) -> Target:
        written = self._written(topic)
        name = names.get(written, "") if isinstance(written, UUID) else written
        return Target(name, getattr(partition, self.asked[2]), written)

    def _written(self, topic: Any) -> str | UUID:
        name: str = getattr(topic, self.topic_field, "")
        identity: UUID | None = getattr(topic, "topic_id", None)
        return identity if identity is not None and identity.int else name


@dataclass(frozen=True)
class WholeApi(KafkaApi):
    """A request fails or succeeds as a whole. `echoed` are fields of the request that its response repeats."""

    failed: Mapping[str, object] = field(default_factory=lambda: MappingProxyType({}))
    echoed: tuple[str, ...] = ()

    @override
    def targets(self, request: Any, names: Mapping[UUID, str]) -> list[Target]:
        return [WHOLE_REQUEST]

    @override
    def strip(self, request: Any, targets: Collection[Target]) -> None:
        raise AssertionError(f"{self.name} has no part that could be taken out")

    @override
    def refusal(self, request: Any, version: int) -> Any:
        echoed = {name: getattr(request, name) for name in self.echoed}
        return self.response(version=version, **self.failed, **echoed)

    @override
    def put_error(self, response: Any, targets: Sequence[Target], code: int) -> None:
        response.error_code = code

    @override
    def is_success(self, response: Any, targets: Collection[Target]) -> bool:
        return not response.error_code


@dataclass(frozen=True)
class BatchedApi(WholeApi):
    """From the version `since` on, a request is a list of groups; each has its own response in the list `batch`."""

    since: int = 0
    batch: str = ""
    asked: str = ""
    item_key: str = ""

    @override
    def refusal(self, request: Any, version: int) -> Any:
        if version < self.since:
            return super().refusal(request, version)
        item_class = self.response.fields[self.batch].data_class
        keys = [one if isinstance(one, str) else getattr(one, self.item_key) for one in getattr(request, self.asked)]
        items = [item_class(version=version, **{self.item_key: key}, **self.failed) for key in keys]
        return self.response(version=version, **{self.batch: items})

    @override
    def put_error(self, response: Any, targets: Sequence[Target], code: int) -> None:
        for item in self._items(response):
            item.error_code = code

    @override
    def is_success(self, response: Any, targets: Collection[Target]) -> bool:
        return not any(item.error_code for item in self._items(response))

    def _items(self, response: Any) -> Sequence[Any]:
        items: Sequence[Any] = getattr(response, self.batch) if response.version >= self.since else [response]
        return items


def decode(message: Any, body: bytes, version: int) -> Any:
    """A request or response of kafka-python's class `message`. Raises UndecodableError."""
    try:
        return message.decode(body, version=version)
    except _UNDECODABLE as error:
        raise UndecodableError(f"{message.name} v{version}: {error}") from error


def _pairs(message: Any, path: tuple[str, str, str]) -> list[tuple[Any, Any]]:
    topics, partitions, _ = path
    return [(topic, partition) for topic in getattr(message, topics) for partition in getattr(topic, partitions)]


PRODUCE: Final = PartitionApi(
    "produce",
    ProduceRequest,
    ProduceResponse,
    asked=("topic_data", "partition_data", "index"),
    answered=("responses", "partition_responses", "index"),
    failed={"base_offset": -1, "log_append_time_ms": -1, "log_start_offset": -1},
)
FETCH: Final = PartitionApi(
    "fetch",
    FetchRequest,
    FetchResponse,
    asked=("topics", "partitions", "partition"),
    answered=("responses", "partitions", "partition_index"),
    topic_field="topic",
    failed={
        "high_watermark": -1,
        "last_stable_offset": -1,
        "log_start_offset": -1,
        "aborted_transactions": [],
        "records": b"",
    },
)
_PLAIN: Final = ("topics", "partitions", "partition_index")
_NO_NODE: Final = MappingProxyType({"node_id": -1, "host": "", "port": -1})

APIS: Final[Mapping[int, KafkaApi]] = MappingProxyType(
    {
        api.key: api
        for api in (
            PRODUCE,
            FETCH,
            PartitionApi(
                "list_offsets",
                ListOffsetsRequest,
                ListOffsetsResponse,
                asked=_PLAIN,
                answered=_PLAIN,
                failed={"timestamp": -1, "offset": -1},
            ),
            PartitionApi("offset_commit", OffsetCommitRequest, OffsetCommitResponse, asked=_PLAIN, answered=_PLAIN),
            BatchedApi(
                "offset_fetch",
                OffsetFetchRequest,
                OffsetFetchResponse,
                since=8,
                batch="groups",
                asked="groups",
                item_key="group_id",
            ),
            BatchedApi(
                "find_coordinator",
                FindCoordinatorRequest,
                FindCoordinatorResponse,
                failed=_NO_NODE,
                since=4,
                batch="coordinators",
                asked="coordinator_keys",
                item_key="key",
            ),
            WholeApi(
                "join_group",
                JoinGroupRequest,
                JoinGroupResponse,
                failed={"generation_id": -1},
                echoed=("member_id",),
            ),
            WholeApi("sync_group", SyncGroupRequest, SyncGroupResponse),
            WholeApi("heartbeat", HeartbeatRequest, HeartbeatResponse),
            WholeApi(
                "init_producer_id",
                InitProducerIdRequest,
                InitProducerIdResponse,
                failed={"producer_id": -1, "producer_epoch": -1},
            ),
        )
    }
)
"""By Kafka's number."""
