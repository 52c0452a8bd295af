"""`reassign: {topic: source, to: [2, 3], throttle: 1MiB}`: a partition moves to other brokers, held to a rate."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import Cluster, cluster, topic_of
from located_config.rate import PER_SECOND
from located_config.size import Size

_LEADER, _FOLLOWER = "leader.replication.throttled", "follower.replication.throttled"


class Reassign(Fault):
    """By the broker's own API, with `throttle` bytes a second for what is copied.

    At its end the throttle is gone and a move that has not ended is cancelled; what has moved stays where it is.
    """

    name: ClassVar[str] = "reassign"
    summary: ClassVar[str] = "a partition moves to other brokers under a throttle"
    example: ClassVar[str] = "{topic: source, to: [2, 3], throttle: 1MiB}"
    brokers: ClassVar[int] = 2

    topic: str
    partition: Annotated[int, Field(ge=0)] = 0
    to: Annotated[tuple[int, ...], Field(min_length=1)]
    throttle: Annotated[Size, Field(gt=0), PER_SECOND] = 1 << 20

    def needs(self) -> tuple[Need, ...]:
        return ()

    def begin(self, context: Context) -> Acting:
        topic = topic_of(context, self.topic)
        with cluster(context.kafka) as kafka:
            brokers, before = kafka.brokers(), kafka.partition(topic, self.partition).replicas
            if strangers := [str(broker) for broker in self.to if broker not in brokers]:
                raise StackError(f"there is no broker {', '.join(strangers)}", hint=f"there are: {_list(brokers)}")
            data = {"kafka": context.kafka, "topic": topic, "partition": str(self.partition)}
            undo = Undo(data=data | {"brokers": ",".join(map(str, brokers))}, outlives_run=context.is_guest)
            context.plan(undo)
            self._throttle(kafka, topic, brokers, before)
            kafka.move(topic, self.partition, self.to)
        return _Moving(context.kafka, topic, self.partition, before, self.to, self.throttle, undo)

    def _throttle(self, kafka: Cluster, topic: str, brokers: tuple[int, ...], before: tuple[int, ...]) -> None:
        for broker in brokers:
            rates: dict[str, str | None] = {f"{side}.rate": str(self.throttle) for side in (_LEADER, _FOLLOWER)}
            kafka.alter_broker(broker, rates)
        leaders, followers = (
            ",".join(f"{self.partition}:{broker}" for broker in of) for of in (before, set(self.to) - set(before))
        )
        kafka.alter_topic(topic, {f"{_LEADER}.replicas": leaders, f"{_FOLLOWER}.replicas": followers or None})

    @classmethod
    def undo(cls, undo: Undo) -> None:
        topic, partition = undo.data["topic"], int(undo.data["partition"])
        with cluster(undo.data["kafka"]) as kafka:
            if topic in kafka.topics():
                if kafka.is_moving(topic, partition):
                    kafka.move(topic, partition, None)
                kafka.alter_topic(topic, {f"{_LEADER}.replicas": None, f"{_FOLLOWER}.replicas": None})
            for broker in undo.data["brokers"].split(","):
                kafka.alter_broker(int(broker), {f"{side}.rate": None for side in (_LEADER, _FOLLOWER)})


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
        has_moved = set(now) == set(self.to) and not is_moving
        state = "was still moving, which was cancelled" if is_moving else "had moved" if has_moved else "had not moved"
        way = f"from brokers {_list(self.before)} to {_list(self.to)} at {self.throttle} bytes a second"
        return Proof(is_moving or has_moved, f"partition {self.partition} of {self.topic} {state}, {way}")


def _list(brokers: tuple[int, ...]) -> str:
    return ", ".join(map(str, brokers))
