"""What a scenario sets around its programs: the mock's faults, the broker and its topics. An arm may have its own."""

from datetime import timedelta
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PositiveInt

from devkit.scenario.rule_window import ScenarioRules
from located_config.size import Size
from pipeline.events import LimitOf


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Mock(_Model):
    """The faults of the mock API. Each must be seen to fire, else there is no verdict."""

    rules: ScenarioRules = Field(
        default=(),
        description="Faults of the mock API, in the order in which they apply. Each must fire, else the run is "
        "inconclusive.",
    )

    def changed_by(self, own: "Mock | None") -> Self:
        """With the rules of `own` behind these, but in the place of those whose names they have."""
        if own is None:
            return self
        by_name = {rule.name: rule for rule in self.rules} | {rule.name: rule for rule in own.rules}
        return self.model_copy(update={"rules": tuple(by_name.values())})

    @property
    def fault_over(self) -> timedelta | None:
        """When the last of the faults that end has ended, from the first request on; None when none of them ends."""
        windows = [rule.when.window for rule in self.rules if rule.when.window is not None]
        return max((window.from_ + window.for_ for window in windows if window.for_ is not None), default=None)


class TopicSettings(_Model):
    """A topic as the broker makes it; `max.message.bytes` is the topic's own limit on a record batch."""

    partitions: PositiveInt = Field(default=1, description="Number of partitions.")
    max_message_bytes: Annotated[Size, Field(gt=0)] | None = Field(
        default=None,
        alias="max.message.bytes",
        description="The topic's limit on a record batch. Default: the broker's.",
    )

    def changed_by(self, own: "TopicSettings") -> Self:
        """With what is written in `own` in place of what is here."""
        return self.model_copy(update={key: getattr(own, key) for key in own.model_fields_set})

    def kafka_settings(self) -> dict[str, str]:
        """By Kafka's names, values as text; what is absent is left to the broker."""
        return {} if self.max_message_bytes is None else {"max.message.bytes": str(self.max_message_bytes)}


class Topics(_Model):
    """The three topics by their part in the pipeline."""

    source: TopicSettings = Field(default=TopicSettings(), description="Each of the source topics.")
    output: TopicSettings = Field(default=TopicSettings(), description="Topic that enriched events go to.")
    error: TopicSettings = Field(default=TopicSettings(), description="Topic that error events go to.")

    def changed_by(self, own: "Topics") -> Self:
        """Topic by topic."""
        changes = {name: getattr(self, name).changed_by(getattr(own, name)) for name in own.model_fields_set}
        return self.model_copy(update=changes)


class Kafka(_Model):
    """What of Kafka a scenario sets; with three `brokers` each topic has a replica on each, at least two in sync."""

    brokers: Literal[1, 3] = Field(
        default=1,
        description="Number of brokers. With 3, on the embedded stack only, each topic has a replica on each "
        "broker, and one broker may be missing.",
    )
    topics: Topics = Field(default=Topics(), description="The topics by their part in the pipeline.")


class ArmKafka(_Model):
    """What of Kafka an arm has otherwise; the brokers are one stack for all arms."""

    topics: Topics = Field(default=Topics(), description="The topics by their part in the pipeline.")


def limits_of_kit(kafka: Kafka) -> frozenset[LimitOf]:
    """The limits on a record that the kit chose and the file did not.

    A source topic takes what the kit's broker takes, and no event is near to that: a file that has larger ones than
    Kafka's default must set the topic's limit.
    """
    return frozenset() if kafka.topics.source.max_message_bytes else frozenset({"source topic"})
