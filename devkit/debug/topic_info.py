"""The topics of a broker as a person wants to see them: how many records, how large, under which limits."""

from collections import Counter
from contextlib import closing
from dataclasses import dataclass

from kafka import KafkaAdminClient, KafkaConsumer
from kafka.admin import ConfigResource, ConfigResourceType
from kafka.errors import KafkaError
from kafka.structs import TopicPartition

from devkit.stack.topic_reader import answering, begins_of, connect, ends_of, places_of
from devkit.stack.topics import topic_admin

_SETTINGS = ("cleanup.policy", "max.message.bytes")


@dataclass(frozen=True)
class TopicInfo:
    """`records` is the span of the offsets, of which compaction and transactions may have taken some; `stored_bytes`
    is what the log takes on the broker's disk, None when it does not say.
    """

    name: str
    partitions: int
    records: int
    stored_bytes: int | None
    cleanup_policy: str
    max_message_bytes: int


def topics_at(bootstrap: str) -> list[TopicInfo]:
    """All but the broker's own, by name. Raises StackError."""
    with (
        topic_admin(bootstrap, "listed") as admin,
        closing(connect(bootstrap)) as consumer,
        answering(f"Kafka at {bootstrap} did not say what topics it has"),
    ):
        names = sorted(name for name in admin.list_topics() if not name.startswith("__"))
        settings, sizes = _settings(admin, names), _sizes(admin)
        return [
            TopicInfo(
                name=name,
                partitions=len(places := places_of(consumer, name)),
                records=_span(consumer, places),
                stored_bytes=None if sizes is None else sizes[name],
                cleanup_policy=settings[name].get("cleanup.policy", "?"),
                max_message_bytes=int(settings[name].get("max.message.bytes", 0)),
            )
            for name in names
        ]


def _span(consumer: KafkaConsumer, places: list[TopicPartition]) -> int:
    ends, begins = ends_of(consumer, places), begins_of(consumer, places)
    return sum(ends[place] - begins[place] for place in places)


def _settings(admin: KafkaAdminClient, names: list[str]) -> dict[str, dict[str, str]]:
    if not names:
        return {}
    resources = [ConfigResource(ConfigResourceType.TOPIC, name, dict.fromkeys(_SETTINGS)) for name in names]
    described = admin.describe_configs(resources, config_filter="all")["topic"]
    return {name: {key: str(setting["value"]) for key, setting in values.items()} for name, values in described.items()}


def _sizes(admin: KafkaAdminClient) -> Counter[str] | None:
    try:
        brokers = admin.describe_log_dirs()
    except KafkaError:
        return None  # a broker may keep that from those who do not run it
    sizes: Counter[str] = Counter()
    for broker in brokers:
        for directory in broker["log_dirs"]:
            for topic in directory["topics"]:
                sizes[topic["name"]] += sum(partition["partition_size"] for partition in topic["partitions"])
    return sizes
