"""`recreate_topic: {topic: output}`: a topic is deleted with all its records and made again, empty."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

from kafka.errors import TopicAlreadyExistsError
from pydantic import Field
from typing_extensions import override

from devkit.faults.exclusive import of_topic
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import cluster, comes_true, topic_of
from devkit.waiting import wait_until
from located_config.count import counted

_DELETED = timedelta(seconds=30)


class RecreateTopic(Fault):
    """The new topic has the partitions and settings of the old one. Its records are counted just before it is deleted;
    what is written between the two is gone too, and in no count.

    The source topic is refused: what was published is known by its offsets, and those would begin anew.
    """

    name: ClassVar[str] = "recreate_topic"
    summary: ClassVar[str] = "the output or error topic is deleted and made again, empty; cannot be undone"
    example: ClassVar[str] = "{topic: output}"
    lasts: ClassVar[bool] = False

    topic: Literal["output", "error"] = Field(description="Topic that is deleted and made again.")

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return of_topic(topics.get(self.topic, self.topic))

    @override
    def begin(self, context: Context) -> Acting:
        topic = topic_of(context, self.topic)
        with cluster(context.kafka) as kafka:
            partitions, settings, before = kafka.partitions(topic), kafka.settings(topic), kafka.topic_id(topic)
            left = f"the records that topic {topic} had are gone"
            context.plan(Undo(irreversible=left, outlives_run=context.is_guest))
            # The last thing before: what is written until the broker has deleted the topic is in no count.
            records = kafka.records(topic)
            kafka.admin.delete_topics([topic])
            options = {
                "num_partitions": len(partitions),
                "replication_factor": len(partitions[0].replicas),
                "configs": settings,
            }

            def made() -> bool:
                try:
                    kafka.admin.create_topics({topic: options}, wait_for_metadata=True)
                except TopicAlreadyExistsError:
                    return False  # the deletion is accepted but not yet carried out, or a client had it made
                return True

            wait_until(made, what=f"topic {topic} to be made again", deadline=_DELETED)
        return _Recreated(context.kafka, topic, before, records)


@dataclass(frozen=True)
class _Recreated:
    bootstrap: str
    topic: str
    before: str
    records: int

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            is_another = comes_true(lambda: kafka.topic_id(self.topic) != self.before)
        if not is_another:
            return Proof(acted=False, did=f"topic {self.topic} is the one of before")
        hides = (
            f"at least {counted(self.records, 'record')} went with topic {self.topic}, and no audit can see them"
            if self.records
            else ""
        )
        did = f"topic {self.topic} was deleted with at least {counted(self.records, 'record')}, and made again"
        return Proof(acted=True, did=did, hides=hides)
