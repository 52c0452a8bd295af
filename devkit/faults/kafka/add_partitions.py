"""`add_partitions: {topic: source, partitions: 6}`: a topic grows while it is read and written."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.claims import topic_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import becomes_true, cluster, resolve_topic
from located_config.count import counted


class AddPartitions(Fault):
    """`partitions` is how many the topic has afterwards. Kafka cannot take partitions away again."""

    name: ClassVar[str] = "add_partitions"
    summary: ClassVar[str] = "a topic gets more partitions; cannot be undone"
    example: ClassVar[str] = "{topic: source, partitions: 6}"
    lasts: ClassVar[bool] = False

    topic: str = Field(description="Topic that grows.")
    partitions: Annotated[int, Field(ge=2, le=1000)] = Field(
        description="Number of partitions that the topic has afterwards; more than before."
    )

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return topic_claims(topics.get(self.topic, self.topic), "number of partitions")

    @override
    def begin(self, context: Context) -> Acting:
        topic = resolve_topic(context, self.topic)
        with cluster(context.kafka) as kafka:
            before = len(kafka.partitions(topic))
            if before >= self.partitions:
                raise StackError(f"topic {topic} has {counted(before, 'partition')}, and can only get more")
            growth = f"topic {topic} has {counted(self.partitions, 'partition')} where it had {before}"
            context.plan(Undo(irreversible=growth, outlives_run=context.is_guest))
            kafka.admin.create_partitions({topic: self.partitions})
        return _Grown(context.kafka, topic, before, self.partitions)


@dataclass(frozen=True)
class _Grown:
    bootstrap: str
    topic: str
    before: int
    asked: int

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            acted = becomes_true(lambda: len(kafka.partitions(self.topic)) == self.asked)
            now = len(kafka.partitions(self.topic))
        return Proof(acted, f"topic {self.topic} had {counted(self.before, 'partition')} and has {now}")

    def unreached(self) -> str:
        """See `devkit.faults.fault.MadeTopic`."""
        with cluster(self.bootstrap) as kafka:
            if kafka.records(self.topic, from_partition=self.before):
                return ""
        last = self.asked - 1
        numbers = f"partition {last}" if last == self.before else f"partitions {self.before} to {last}"
        return f"{numbers} of topic {self.topic}"
