"""`reassign: {topic: source, to: [2, 3], throttle: 1MiB}`: a partition moves to other brokers, held to a rate."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Final

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.claims import topic_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import Cluster, cluster, resolve_topic
from located_config.rate import PER_SECOND
from located_config.size import Size

_LEADER, _FOLLOWER = "leader.replication.throttled", "follower.replication.throttled"
_REPLICAS: Final = (f"{_LEADER}.replicas", f"{_FOLLOWER}.replicas")
_RATES: Final = (f"{_LEADER}.rate", f"{_FOLLOWER}.rate")


class Throttle(BaseModel):
    """Settings of a topic and of each broker by which replication is throttled; None is not set."""

    model_config = ConfigDict(frozen=True)

    topic: dict[str, str | None]
    brokers: dict[int, dict[str, str | None]]


class Reassign(Fault):
    """By the broker's own API, with `throttle` bytes a second for what is copied.

    At its end the throttle is what it was before, and a move that has not ended is cancelled; what has moved stays
    where it is.
    """

    name: ClassVar[str] = "reassign"
    summary: ClassVar[str] = "a partition moves to other brokers under a throttle"
    example: ClassVar[str] = "{topic: source, to: [2, 3], throttle: 1MiB}"
    brokers: ClassVar[int] = 2

    topic: str = Field(description="Topic of the partition.")
    partition: Annotated[int, Field(ge=0)] = Field(default=0, description="Number of the partition, from 0.")
    to: Annotated[tuple[int, ...], Field(min_length=1)] = Field(
        description="Ids of the brokers that the partition moves to, from 1; the first is its preferred leader."
    )
    throttle: Annotated[Size, Field(gt=0), PER_SECOND] = Field(
        default=1 << 20, description="Bytes a second that replication may copy."
    )

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        """The rates are of whole brokers, so one throttle at a time."""
        topic = topics.get(self.topic, self.topic)
        return topic_claims(topic, f"partition {self.partition}", *_REPLICAS) | {"the brokers' replication throttle"}

    @override
    def begin(self, context: Context) -> Acting:
        topic = resolve_topic(context, self.topic)
        with cluster(context.kafka) as kafka:
            brokers, before = kafka.brokers(), kafka.partition(topic, self.partition).replicas
            if strangers := [str(broker) for broker in self.to if broker not in brokers]:
                raise StackError(f"there is no broker {', '.join(strangers)}", hint=f"there are: {_list(brokers)}")
            kafka.require_still(topic, self.partition)
            data = {"kafka": context.kafka, "topic": topic, "partition": str(self.partition)}
            throttle = _throttle(kafka, topic, brokers).model_dump_json()
            undo = Undo(data=data | {"throttle": throttle}, outlives_run=context.is_guest)
            context.plan(undo)
            self._set_throttle(kafka, topic, brokers, before)
            kafka.move(topic, self.partition, self.to)
        return _Moving(context.kafka, topic, self.partition, before, self.to, self.throttle, undo)

    def _set_throttle(self, kafka: Cluster, topic: str, brokers: tuple[int, ...], before: tuple[int, ...]) -> None:
        for broker in brokers:
            kafka.alter_broker(broker, dict.fromkeys(_RATES, str(self.throttle)))
        leaders, followers = (
            ",".join(f"{self.partition}:{broker}" for broker in ids) for ids in (before, sorted({*self.to} - {*before}))
        )
        kafka.alter_topic(topic, dict(zip(_REPLICAS, (leaders, followers or None), strict=True)))

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        topic, partition = undo.data["topic"], int(undo.data["partition"])
        before = Throttle.model_validate_json(undo.data["throttle"])
        with cluster(undo.data["kafka"]) as kafka:
            if topic in kafka.topics():
                if kafka.is_moving(topic, partition):
                    kafka.move(topic, partition, None)
                kafka.alter_topic(topic, before.topic)
            for broker, rates in before.brokers.items():
                kafka.await_broker(broker)  # each knows its own rate alone, and keeps it when it is started again
                kafka.alter_broker(broker, rates)


@dataclass(frozen=True)
class _Moving:
    bootstrap: str
    topic: str
    partition: int
    before: tuple[int, ...]
    to: tuple[int, ...]
    throttle: int
    how_undone: Undo

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            is_moving = kafka.is_moving(self.topic, self.partition)
            now = kafka.partition(self.topic, self.partition).replicas
        Reassign.undo(self.how_undone)
        if {*self.before} == {*self.to}:
            return Proof(acted=False, did=f"{self._what} was on brokers {_list(self.to)} before: nothing moved")
        has_moved = {*now} == {*self.to} and not is_moving
        state = "was still moving, which was cancelled" if is_moving else "had moved" if has_moved else "had not moved"
        way = f"from brokers {_list(self.before)} to {_list(self.to)} at {self.throttle} bytes a second"
        return Proof(is_moving or has_moved, f"{self._what} {state}, {way}")

    @property
    def _what(self) -> str:
        return f"partition {self.partition} of {self.topic}"


def _throttle(kafka: Cluster, topic: str, brokers: tuple[int, ...]) -> Throttle:
    """The throttle that is set now."""
    topic_settings = kafka.settings(topic)
    by_broker = {broker: kafka.broker_settings(broker) for broker in brokers}
    return Throttle(
        topic={key: topic_settings.get(key) for key in _REPLICAS},
        brokers={broker: {key: settings.get(key) for key in _RATES} for broker, settings in by_broker.items()},
    )


def _list(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers))
