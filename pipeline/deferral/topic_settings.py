"""The ledger's topic as it has to be: compacted, so that nothing is forgotten before it is resolved.

It is created where it is missing. One that an operator created is checked: with another cleanup policy it would lose
entries when they get old, and one that takes only smaller records than the producer would end the job at the first
event between the two sizes.
"""

import time
from collections.abc import Callable

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType, NewTopic
from kafka.errors import KafkaTimeoutError, TopicAlreadyExistsError

from pipeline.config import ledger_topic_settings
from pipeline.errors import PipelineError, RefusedError

_DEADLINE_S = 60.0
_LOOK_S = 0.2


def require_topic(
    bootstrap: str,
    topic: str,
    *,
    max_record_bytes: int,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> int:
    """Make the topic where it is missing; the largest record in bytes that it and its producer take.

    Raises RefusedError when its settings would lose entries, PipelineError or a KafkaError when it cannot be made.
    """
    admin = KafkaAdminClient(bootstrap_servers=bootstrap)
    try:
        until = clock() + _DEADLINE_S
        while not _has_partitions(admin, topic):
            if clock() > until:
                raise PipelineError(
                    f"ledger topic {topic} at {bootstrap} could not be made within {_DEADLINE_S:g} s",
                    hint="the broker says that it exists, and has no partitions of it: is it being deleted?",
                )
            try:
                admin.create_topics([_new(topic, max_record_bytes)], timeout_ms=int(_DEADLINE_S * 1000))
            except (TopicAlreadyExistsError, KafkaTimeoutError):
                sleep(_LOOK_S)  # another driver is creating it, or an operator is deleting it
        return _checked(_settings(admin, topic), topic, max_record_bytes)
    finally:
        admin.close()


def _has_partitions(admin: KafkaAdminClient, topic: str) -> bool:
    return any(found["name"] == topic and found["partitions"] for found in admin.describe_topics())


def _new(topic: str, max_record_bytes: int) -> NewTopic:
    settings = ledger_topic_settings(max_record_bytes)
    return NewTopic(topic, num_partitions=1, replication_factor=-1, topic_configs=settings)


def _settings(admin: KafkaAdminClient, topic: str) -> dict[str, str]:
    wanted = ConfigResource(ConfigResourceType.TOPIC, topic)
    described = admin.describe_configs([wanted], config_filter=ConfigFilterType.ALL)
    return {name: str(setting["value"]) for name, setting in described["topic"][topic].items()}


def _checked(settings: dict[str, str], topic: str, max_record_bytes: int) -> int:
    policy = settings.get("cleanup.policy")
    if policy is None:
        raise PipelineError(f"the settings of ledger topic {topic} cannot be read", hint="may the job describe them?")
    if policy != "compact":
        raise RefusedError(
            f"ledger topic {topic} has cleanup.policy {policy!r}, and would forget deferred events",
            hint="set it to compact, or name another topic as deferral.topic and let the job make it",
        )
    return min(max_record_bytes, int(settings["max.message.bytes"]))
