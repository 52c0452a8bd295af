"""`move_leader: {topic: output}`: another broker leads a partition for a time; clients have to find it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.claims import topic_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import Cluster, cluster, resolve_topic


class MoveLeader(Fault):
    """Without `to` the next of the partition's replicas leads. At the end the one of before does again."""

    name: ClassVar[str] = "move_leader"
    summary: ClassVar[str] = "another broker leads a partition; needs a topic with replicas"
    example: ClassVar[str] = "{topic: output, partition: 0}"
    brokers: ClassVar[int] = 2

    topic: str = Field(description="Topic of the partition; it needs replicas.")
    partition: Annotated[int, Field(ge=0)] = Field(default=0, description="Number of the partition, from 0.")
    to: int | None = Field(
        default=None, description="Id of the broker that leads, from 1. Default: the next of the partition's replicas."
    )

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return topic_claims(topics.get(self.topic, self.topic), f"partition {self.partition}")

    @override
    def begin(self, context: Context) -> Acting:
        topic = resolve_topic(context, self.topic)
        with cluster(context.kafka) as kafka:
            current = kafka.partition(topic, self.partition)
            followers = [replica for replica in current.replicas if replica != current.leader]
            leader = self.to if self.to is not None else next(iter(followers), None)
            if leader not in followers:
                raise StackError(
                    f"partition {self.partition} of {topic} is led by broker {current.leader}, and has "
                    f"replicas on {', '.join(map(str, followers)) or 'no other broker'}",
                    hint="a topic has replicas where the scenario says `kafka.brokers: 3`",
                )
            kafka.require_still(topic, self.partition)
            data = {"kafka": context.kafka, "topic": topic, "partition": str(self.partition)}
            before = (current.leader, *followers)
            undo = Undo(data=data | {"replicas": ",".join(map(str, before))}, outlives_run=context.is_guest)
            context.plan(undo)
            rest = (replica for replica in current.replicas if replica != leader)
            _lead(kafka, topic, self.partition, (leader, *rest))
        return _Led(context.kafka, topic, self.partition, current.leader, leader, undo)

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        replicas = tuple(int(broker) for broker in undo.data["replicas"].split(","))
        with cluster(undo.data["kafka"]) as kafka:
            if undo.data["topic"] in kafka.topics():
                _lead(kafka, undo.data["topic"], int(undo.data["partition"]), replicas)


@dataclass(frozen=True)
class _Led:
    bootstrap: str
    topic: str
    partition: int
    before: int
    asked: int
    how_undone: Undo

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            now = kafka.partition(self.topic, self.partition).leader
        MoveLeader.undo(self.how_undone)
        did = f"broker {now} led partition {self.partition} of {self.topic}, before and after it broker {self.before}"
        return Proof(now == self.asked, did)


def _lead(kafka: Cluster, topic: str, partition: int, replicas: tuple[int, ...]) -> None:
    """The first of the replicas is preferred; the election makes it the leader."""
    kafka.move(topic, partition, replicas)
    kafka.await_moved(topic, partition)
    kafka.elect(topic, partition, replicas[0])
