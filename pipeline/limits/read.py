"""Asks the brokers of source and sink for the limits in force, and reports where they disagree.

A broker that does not say is no reason not to begin: the job may lack the right to ask. It is said, and who cannot
reach a broker at all will hear of it from Spark.
"""

from collections.abc import Iterable
from contextlib import closing
from dataclasses import asdict

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import KafkaError

from pipeline import log
from pipeline.config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.limits.judge import Limits, disagreements
from pipeline.sink import producer_sizes

_ANSWER_MS = 10_000
_NO_ANSWER = (KafkaError, OSError, ValueError, TypeError)
_TOPIC_LIMIT = "max.message.bytes"
_MESSAGE_LIMIT = "message.max.bytes"
_REQUEST_LIMIT = "socket.request.max.bytes"


def require_limits(config: PipelineConfig) -> None:
    """Say what is in force and what disagrees. Raises RefusedError when the job cannot work with it."""
    limits = read_limits(config)
    log.say("limits", **asdict(limits))
    found = disagreements(limits, config)
    fatal = [one for one in found if one.fatal]
    if fatal:
        raise RefusedError("\n".join(one.text for one in fatal), hint="; ".join(one.hint for one in fatal))
    for one in found:
        log.say("limits_disagree", problem=one.text, hint=one.hint)


def read_limits(config: PipelineConfig) -> Limits:
    """The producer's own limits, and what the brokers say of theirs."""
    sink, source = config.sink, config.source
    producer = producer_sizes(sink)
    topics = (sink.topic, sink.error_topic, config.deferral.topic)
    if source.bootstrap_servers == sink.bootstrap_servers:
        there, broker = _ask_or_say(sink.bootstrap_servers, (*topics, source.topic))
        at_source = there
    else:
        there, broker = _ask_or_say(sink.bootstrap_servers, topics)
        at_source, _ = _ask_or_say(source.bootstrap_servers, (source.topic,))
    return Limits(
        max_request_size=sink.max_request_size,
        buffer_memory=producer["buffer.memory"],
        source_topic=at_source.get(source.topic),
        output_topic=there.get(sink.topic),
        error_topic=there.get(sink.error_topic),
        ledger_topic=there.get(config.deferral.topic),
        broker_message=broker.get(_MESSAGE_LIMIT),
        broker_request=broker.get(_REQUEST_LIMIT),
    )


def source_cluster(config: PipelineConfig) -> str | None:
    """The id of the cluster that the source is in; None when nobody says."""
    try:
        with closing(_connected(config.source.bootstrap_servers)) as admin:
            found = admin.describe_cluster().get("cluster_id")
    except _NO_ANSWER:
        return None  # it has been said of the limits, too
    return str(found) if found else None


def _ask_or_say(bootstrap: str, topics: Iterable[str]) -> tuple[dict[str, int], dict[str, int]]:
    try:
        return _ask(bootstrap, topics)
    except _NO_ANSWER as error:
        log.say("limits_unknown", at=bootstrap, reason=f"{type(error).__name__}: {error}")
        return {}, {}


def _ask(bootstrap: str, topics: Iterable[str]) -> tuple[dict[str, int], dict[str, int]]:
    """What each topic that is there takes, and the lowest of the brokers' own limits."""
    with closing(_connected(bootstrap)) as admin:
        brokers = [str(broker["broker_id"]) for broker in admin.describe_cluster()["brokers"]]
        wanted = [ConfigResource(ConfigResourceType.TOPIC, topic, [_TOPIC_LIMIT]) for topic in topics]
        wanted += [
            ConfigResource(ConfigResourceType.BROKER, broker, [_MESSAGE_LIMIT, _REQUEST_LIMIT]) for broker in brokers
        ]
        described = admin.describe_configs(wanted, config_filter=ConfigFilterType.ALL)
    of_topics = {
        topic: int(settings[_TOPIC_LIMIT]["value"])
        for topic, settings in described.get("topic", {}).items()
        if _TOPIC_LIMIT in settings
    }
    of_brokers: dict[str, int] = {}
    for settings in described.get("broker", {}).values():
        for name, setting in settings.items():
            value = int(setting["value"])
            of_brokers[name] = min(of_brokers.get(name, value), value)
    return of_topics, of_brokers


def _connected(bootstrap: str) -> KafkaAdminClient:
    return KafkaAdminClient(bootstrap_servers=bootstrap, bootstrap_timeout_ms=_ANSWER_MS, request_timeout_ms=_ANSWER_MS)
