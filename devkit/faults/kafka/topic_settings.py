"""`topic_settings: {topic: output, settings: {max.message.bytes: 100000}}`: settings of a topic change for a time."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar, Self

import orjson
from pydantic import BeforeValidator, Field
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.claims import topic_claims
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.faults.kafka.cluster import cluster, resolve_topic


def _as_text(value: object) -> object:
    """Kafka's settings are text; YAML reads some as numbers or truth values."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


_LONGEST_MS = 2**63 - 1


class ChangedTopicSettings(Fault):
    """At the end each setting is what it was before, or not set where it was not."""

    name: ClassVar[str] = "topic_settings"
    summary: ClassVar[str] = "settings of a topic change, such as the largest record that it takes"
    example: ClassVar[str] = "{topic: output, settings: {max.message.bytes: 100000}}"

    topic: str = Field(description="Topic whose settings change.")
    settings: Annotated[dict[str, Annotated[str, BeforeValidator(_as_text)]], Field(min_length=1)] = Field(
        description="Values by the names that Kafka has for them, such as `max.message.bytes`."
    )

    def slower(self, by: int) -> Self:
        """Kafka's names of settings say which are times; -1 is for ever."""
        settings = {
            key: str(min(int(value) * by, _LONGEST_MS)) if key.endswith(".ms") and value.isdecimal() else value
            for key, value in self.settings.items()
        }
        return self if settings == self.settings else type(self)(topic=self.topic, settings=settings)

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        return topic_claims(topics.get(self.topic, self.topic), *self.settings)

    @override
    def begin(self, context: Context) -> Acting:
        topic = resolve_topic(context, self.topic)
        with cluster(context.kafka) as kafka:
            kafka.partitions(topic)
            own, effective = kafka.settings(topic), kafka.effective_settings(topic)
            if unknown := sorted(self.settings.keys() - effective.keys()):
                # Before the plan: an undo with that name would be refused as well, at every try.
                raise StackError(f"Kafka knows no such setting of a topic: {', '.join(unknown)}")
            before = {key: own.get(key) for key in self.settings}
            undo = Undo(
                data={"kafka": context.kafka, "topic": topic, "before": orjson.dumps(before).decode()},
                outlives_run=context.is_guest,
            )
            context.plan(undo)
            kafka.alter_topic(topic, self.settings)
        changes = any(effective.get(key) != value for key, value in self.settings.items())
        return _Changed(context.kafka, topic, changes, self.settings, undo)

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        topic, before = undo.data["topic"], orjson.loads(undo.data["before"])
        with cluster(undo.data["kafka"]) as kafka:
            if topic in kafka.topics():
                kafka.alter_topic(topic, before)


@dataclass(frozen=True)
class _Changed:
    bootstrap: str
    topic: str
    changes: bool
    asked: Mapping[str, str]
    how_undone: Undo

    def end(self) -> Proof:
        with cluster(self.bootstrap) as kafka:
            now = kafka.settings(self.topic)
        ChangedTopicSettings.undo(self.how_undone)
        had = {key: now.get(key, "its default") for key in self.asked}
        before = ", ".join(f"{key} {value}" for key, value in had.items())
        if not self.changes:
            return Proof(acted=False, did=f"what was asked of topic {self.topic} was so before: nothing changed")
        return Proof(had == dict(self.asked), f"topic {self.topic} had {before}, and has what it had before")
