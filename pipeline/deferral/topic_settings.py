"""The ledger's topic as it has to be: compacted, so that nothing is forgotten before it is resolved.

A first start creates it where it is missing. One that is there is checked: with another cleanup policy it would lose
entries when they get old; compacted too early it would lose what a driver has to meet; a leader that was not in sync
takes what it does not have from the others; and with more replicas to be in sync than there are nothing is ever
acknowledged. Fewer than three replicas are a risk that is logged.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from pipeline import log
from pipeline.config.pipeline_config import ledger_topic_settings
from pipeline.deferral.ledger_start import LedgerStart
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import LedgerAtRisk
from pipeline.kafka.cluster import BrokersAt, connected

_DEADLINE_S = 60.0
# A broker that has just started may not know its topics yet.
_MISSING_S = 10.0
_LOOK_S = 0.2
_LEAST_LAG_MS = 60 * 60 * 1000
_REPLICAS = 3


@dataclass(frozen=True, slots=True)
class TopicFacts:
    """`limit_bytes` is the largest record that topic and producer take; `id` is Kafka's, None where it reports none."""

    limit_bytes: int
    id: str | None


def require_topic(
    bootstrap: BrokersAt,
    topic: str,
    *,
    max_record_bytes: int,
    start: LedgerStart,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> TopicFacts:
    """See that the topic is there, is that of `start`, and keeps what it is given; make it where `start` allows that.

    Raises RefusedError when it is not so, PipelineError or a KafkaError when it cannot be made.
    """
    admin = connected(KafkaAdminClient, bootstrap)
    try:
        may_make = start.missing == "make"
        until = clock() + (_DEADLINE_S if may_make else _MISSING_S)
        while (described := _described(admin, topic)) is None:
            if not may_make:
                if clock() > until:
                    raise start.absent(topic, str(bootstrap))
                sleep(_LOOK_S)
                continue
            if clock() > until:
                raise PipelineError(
                    f"ledger topic {topic} at {bootstrap} could not be made within {_DEADLINE_S:g} s",
                    hint="the broker says that it exists, and has no partitions of it: is it being deleted?",
                )
            try:
                admin.create_topics([_new(topic, max_record_bytes)], timeout_ms=int(_DEADLINE_S * 1000))
            except (TopicAlreadyExistsError, KafkaTimeoutError):
                sleep(_LOOK_S)  # another driver is creating it, or an operator is deleting it
        own_id = topic_id(described)
        start.require_id(topic, own_id)
        limit = _checked(_settings(admin, topic), topic, max_record_bytes, _replicas(described["partitions"]))
        return TopicFacts(limit, own_id)
    finally:
        admin.close()


def topic_id(described: Mapping[str, Any]) -> str | None:
    """Kafka's id of a topic that was described, by which it is told from a later one of its name; None where the broker
    is too old to have one.
    """
    topic_uuid = described.get("topic_id")
    return str(topic_uuid) if topic_uuid and getattr(topic_uuid, "int", 1) else None


def _described(admin: KafkaAdminClient, topic: str) -> Mapping[str, Any] | None:
    """None while it is not there, or has no partitions."""
    return next(
        (
            topic_facts
            for topic_facts in admin.describe_topics()
            if topic_facts["name"] == topic and topic_facts["partitions"]
        ),
        None,
    )


def _replicas(partitions: Sequence[Mapping[str, Any]]) -> int:
    return min(len(partition.get("replica_nodes", ())) for partition in partitions)


def _new(topic: str, max_record_bytes: int) -> NewTopic:
    settings = ledger_topic_settings(max_record_bytes)
    return NewTopic(topic, num_partitions=1, replication_factor=-1, topic_configs=settings)


def _settings(admin: KafkaAdminClient, topic: str) -> dict[str, str]:
    resource = ConfigResource(ConfigResourceType.TOPIC, topic)
    described = admin.describe_configs([resource], config_filter=ConfigFilterType.ALL)
    return {name: str(setting["value"]) for name, setting in described["topic"][topic].items()}


def _checked(settings: dict[str, str], topic: str, max_record_bytes: int, replicas: int) -> int:
    policy = settings.get("cleanup.policy")
    if policy is None:
        raise PipelineError(f"the settings of ledger topic {topic} cannot be read", hint="may the job describe them?")
    if policy != "compact":
        raise RefusedError(
            f"ledger topic {topic} has cleanup.policy {policy!r}, and would forget deferred events",
            hint="set it to compact, or name another topic as deferral.topic and let the job make it",
        )
    lag_ms = int(settings.get("min.compaction.lag.ms", _LEAST_LAG_MS))
    if lag_ms < _LEAST_LAG_MS:
        raise RefusedError(
            f"ledger topic {topic} has min.compaction.lag.ms {lag_ms}: compaction could take a record before a driver "
            "has met the one that hides it",
            hint=f"set it to at least {_LEAST_LAG_MS}",
        )
    if settings.get("unclean.leader.election.enable") == "true":
        raise RefusedError(
            f"ledger topic {topic} has unclean.leader.election.enable true: acknowledged records could be lost",
            hint="set it to false",
        )
    in_sync = int(settings.get("min.insync.replicas", 1))
    if 0 < replicas < in_sync:
        raise RefusedError(
            f"ledger topic {topic} has min.insync.replicas {in_sync} and {replicas} "
            f"{'replica' if replicas == 1 else 'replicas'}: nothing would ever be acknowledged",
            hint="add replicas, or lower min.insync.replicas",
        )
    if 0 < replicas < _REPLICAS:
        log.emit(
            LedgerAtRisk(
                topic=topic, replicas=replicas, hint=f"what is deferred stands nowhere else: give it {_REPLICAS}"
            )
        )
    return min(max_record_bytes, int(settings["max.message.bytes"]))
