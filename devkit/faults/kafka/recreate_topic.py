"""`recreate_topic: {topic: output}`: a topic is deleted with all its records and made again, empty."""

import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

from kafka.errors import TopicAlreadyExistsError
from pydantic import Field
from typing_extensions import override

from devkit.faults.claims import topic_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import becomes_true, cluster, resolve_topic
from devkit.waiting import wait_until
from located_config.count import counted

_DELETED = timedelta(seconds=30)


class RecreateTopic(Fault):
    """The new topic has the partitions and settings of the old one. How many records went with the old one is known by
    its end offsets, read just before it is deleted. It is not exact: Kafka cannot delete a topic and say where it ended
    in one step, so what is written between the two is gone too and in no count, and where programs write in
    transactions the end of each takes an offset. The proof says how long that time was.

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
        return topic_claims(topics.get(self.topic, self.topic))

    @override
    def begin(self, context: Context) -> Acting:
        topic = resolve_topic(context, self.topic)
        with cluster(context.kafka) as kafka:
            partitions, settings, before = kafka.partitions(topic), kafka.settings(topic), kafka.topic_id(topic)
            loss = f"the records that topic {topic} had are gone"
            context.plan(Undo(irreversible=loss, outlives_run=context.is_guest))
            # The last thing before: what is written until the broker has deleted the topic is in no count.
            asked = time.monotonic()
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
            uncounted_s = time.monotonic() - asked
        return _Recreated(context.kafka, topic, before, records, uncounted_s)


@dataclass(frozen=True)
class _Recreated:
    bootstrap: str
    topic: str
    before: str
    records: int
    uncounted_s: float
    """From before the count to when the new topic was there, and so the old one gone."""

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            is_another = becomes_true(lambda: kafka.topic_id(self.topic) != self.before)
        if not is_another:
            return Proof(acted=False, did=f"topic {self.topic} is the one of before")
        gone = f"{counted(self.records, 'record')} by its end offsets, and what was written in the "
        gone += f"{self.uncounted_s:.3f} s from then until it was gone"
        return Proof(
            acted=True,
            did=f"topic {self.topic} was deleted with {gone}; and it was made again",
            hides=f"no audit can see what went with topic {self.topic}: {gone}",
        )

    def unreached(self) -> str:
        """See `devkit.faults.fault.MadeTopic`."""
        with cluster(self.bootstrap) as kafka:
            return "" if kafka.records(self.topic) else f"the new topic {self.topic}"
