"""Asks the brokers of source and sink for topics and limits, and reports what is missing and where they disagree.

A broker that does not report a limit does not stop the start: the job may lack the right to ask. It is logged, and who
cannot reach a broker at all will hear of it from Spark.
"""

from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace

from kafka import KafkaAdminClient
from kafka.admin import ConfigFilterType, ConfigResource, ConfigResourceType
from kafka.errors import KafkaError, UnknownTopicOrPartitionError

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.topic_settings import topic_id
from pipeline.errors import RefusedError
from pipeline.events import BrokerLimits, LimitsDisagree, LimitsUnknown
from pipeline.kafka.cluster import BrokersAt, connected, sink_brokers, source_brokers
from pipeline.kafka.limit_rules import Disagreement, Limits, disagreements, largest_batch
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.sink import producer_sizes

_ANSWER_S = 10.0
_NO_ANSWER = (KafkaError, OSError, ValueError, TypeError)
_TOPIC_LIMIT = "max.message.bytes"
_MESSAGE_LIMIT = "message.max.bytes"
_REQUEST_LIMIT = "socket.request.max.bytes"
_MAKES_TOPICS = "auto.create.topics.enable"


@dataclass(frozen=True, slots=True)
class Missing:
    """A topic that does not exist, and is not created by the query; `setting` is the one that names it."""

    setting: str
    topic: str
    bootstrap: str


@dataclass(frozen=True, slots=True)
class Brokers:
    """What the brokers report, each cluster asked once. `source_cluster` is its id, None when it is not reported, and
    `source_ids` are those of the source's topics that are.
    """

    limits: Limits
    source_cluster: str | None
    missing: tuple[Missing, ...] = ()
    source_ids: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Cluster:
    """`topics`: what each that is there takes. `brokers`: the lowest of their own limits, by name. `missing`: topics
    that are not there and will not be, as the brokers make none by themselves.
    """

    cluster_id: str | None = None
    topics: Mapping[str, int] = field(default_factory=dict)
    brokers: Mapping[str, int] = field(default_factory=dict)
    missing: frozenset[str] = frozenset()
    ids: Mapping[str, str] = field(default_factory=dict)


def require_topics(missing: Iterable[Missing]) -> None:
    """Raises RefusedError for a topic without which the job would fail with its first batch."""
    problems = [f"{topic.setting}: there is no topic {topic.topic} at {topic.bootstrap}" for topic in missing]
    if problems:
        raise RefusedError(
            "\n".join(problems), hint="make it, or correct its name: these brokers make none by themselves"
        )


def require_limits(limits: Limits, config: PipelineConfig) -> None:
    """Log what is effective and what disagrees. Raises RefusedError when the job cannot work with it."""
    _log_limits(limits, config)
    problems = disagreements(limits, config)
    fatal = [problem for problem in problems if problem.fatal]
    if fatal:
        raise RefusedError(
            "\n".join(problem.text for problem in fatal), hint="; ".join(problem.hint for problem in fatal)
        )
    _log_disagreements(problems)


@dataclass
class LimitsWatch:
    """The effective limits, from those that a start found."""

    config: PipelineConfig
    limits: Limits

    @property
    def batch_bytes(self) -> int:
        """See `largest_batch`."""
        return largest_batch(self.limits, self.config)

    def look(self) -> None:
        """Ask again for what the sink's topics take, and log what has changed. What a start would refuse is only
        logged: the limit may be raised again before a record meets it.
        """
        limits = _refreshed_limits(self.config, self.limits)
        if limits == self.limits:
            return
        known = disagreements(self.limits, self.config)
        self.limits = limits
        _log_limits(limits, self.config)
        _log_disagreements(problem for problem in disagreements(limits, self.config) if problem not in known)


def _log_limits(limits: Limits, config: PipelineConfig) -> None:
    of_brokers = asdict(limits)
    source_topic = max(of_brokers.pop("source_topics").values(), default=None)
    log.emit(BrokerLimits(source_topic=source_topic, batch_size=largest_batch(limits, config), **of_brokers))


def _log_disagreements(problems: Iterable[Disagreement]) -> None:
    for problem in problems:
        log.emit(LimitsDisagree(problem=problem.text, hint=problem.hint, of=problem.of))


def _refreshed_limits(config: PipelineConfig, known: Limits) -> Limits:
    """The limits now. A limit that no broker reports keeps its known value."""
    sink = config.sink
    lapsed = sink.effective_lapsed_topic
    topics = [sink.topic, *sink.error_topics, config.deferral.topic]
    topics += [lapsed] if config.lapses else []
    topics += [sink.inconsistency_topic] if sink.inconsistency_topic is not None else []
    try:
        with closing(admin_at(sink_brokers(config))) as admin:
            takes = _with_limits(_Cluster(), admin, (), topics).topics
    except (*_NO_ANSWER, RefusedError):
        return known
    return replace(
        known,
        output_topic=takes.get(sink.topic, known.output_topic),
        error_topic=takes.get(sink.error_topic, known.error_topic),
        ledger_topic=takes.get(config.deferral.topic, known.ledger_topic),
        lapsed_topic=takes.get(lapsed, known.lapsed_topic),
        fetch_failure_topic=takes.get(sink.fetch_failure_topic or "", known.fetch_failure_topic),
        inconsistency_topic=takes.get(sink.inconsistency_topic or "", known.inconsistency_topic),
    )


def ask_brokers(config: PipelineConfig) -> Brokers:
    """The producer's own limits, and what the brokers say of theirs. What they do not say is reported."""
    sink, source = config.sink, config.source
    sources = source.all_topics
    producer = producer_sizes(sink)
    _, *fetch_failure = sink.error_topics
    lapsed = (sink.effective_lapsed_topic,) if config.lapses else ()
    inconsistency = () if sink.inconsistency_topic is None else (sink.inconsistency_topic,)
    topics = (sink.topic, *sink.error_topics, config.deferral.topic, *lapsed, *inconsistency)
    if source.bootstrap_servers == sink.bootstrap_servers:
        at_source = at_sink = _ask(sink_brokers(config), (*topics, *sources))
    else:
        at_sink = _ask(sink_brokers(config), topics)
        at_source = _ask(source_brokers(config), sources)
    limits = Limits(
        max_request_size=sink.max_request_size,
        buffer_memory=producer["buffer.memory"],
        source_topics={topic: at_source.topics[topic] for topic in sources if topic in at_source.topics},
        output_topic=at_sink.topics.get(sink.topic),
        error_topic=at_sink.topics.get(sink.error_topic),
        ledger_topic=at_sink.topics.get(config.deferral.topic),
        lapsed_topic=at_sink.topics.get(sink.effective_lapsed_topic),
        fetch_failure_topic=at_sink.topics.get(sink.fetch_failure_topic or ""),
        inconsistency_topic=at_sink.topics.get(sink.inconsistency_topic or ""),
        broker_message=at_sink.brokers.get(_MESSAGE_LIMIT),
        broker_request=at_sink.brokers.get(_REQUEST_LIMIT),
    )
    topic_setting = "source.topics" if source.topics else "source.topic"
    # Not the ledger's: the job makes it.
    needed = (
        *((Missing(topic_setting, topic, source.bootstrap_servers), at_source) for topic in sources),
        (Missing("sink.topic", sink.topic, sink.bootstrap_servers), at_sink),
        (Missing("sink.error_topic", sink.error_topic, sink.bootstrap_servers), at_sink),
        *((Missing("sink.fetch_failure_topic", topic, sink.bootstrap_servers), at_sink) for topic in fetch_failure),
        *((Missing("sink.lapsed_topic", topic, sink.bootstrap_servers), at_sink) for topic in lapsed),
        *((Missing("sink.inconsistency_topic", topic, sink.bootstrap_servers), at_sink) for topic in inconsistency),
    )
    missing = tuple(topic for topic, cluster in needed if topic.topic in cluster.missing)
    ids = {topic: at_source.ids[topic] for topic in sources if topic in at_source.ids}
    return Brokers(limits, at_source.cluster_id, missing, ids)


def source_ids(config: PipelineConfig) -> Mapping[str, str]:
    """Kafka's ids of the source's topics, without those that are not reported; none where no broker answers, or a file
    of the login is being renewed.
    """
    try:
        with closing(admin_at(source_brokers(config))) as admin:
            return _ids(admin, config.source.all_topics)
    except (*_NO_ANSWER, RefusedError):
        return {}


def _ask(bootstrap: BrokersAt, topics: Iterable[str]) -> _Cluster:
    cluster = _Cluster()
    try:
        with closing(admin_at(bootstrap)) as admin:
            described = admin.describe_cluster()
            # Known also to a job that may not ask for the limits.
            cluster = _Cluster(described.get("cluster_id") or None)
            cluster = replace(cluster, ids=_ids(admin, topics))
            return _with_limits(cluster, admin, [str(broker["broker_id"]) for broker in described["brokers"]], topics)
    except _NO_ANSWER as error:
        log.emit(LimitsUnknown(bootstrap=str(bootstrap), reason=f"{type(error).__name__}: {error}"))
        return cluster


def _with_limits(cluster: _Cluster, admin: KafkaAdminClient, brokers: Iterable[str], topics: Iterable[str]) -> _Cluster:
    of_broker = [_MESSAGE_LIMIT, _REQUEST_LIMIT, _MAKES_TOPICS]
    resources = [ConfigResource(ConfigResourceType.TOPIC, topic, [_TOPIC_LIMIT]) for topic in topics]
    resources += [ConfigResource(ConfigResourceType.BROKER, broker, of_broker) for broker in brokers]
    described = admin.describe_configs(resources, config_filter=ConfigFilterType.ALL)
    of_topics = {
        topic: int(settings[_TOPIC_LIMIT]["value"])
        for topic, settings in described.get("topic", {}).items()
        if _TOPIC_LIMIT in settings
    }
    of_brokers: dict[str, int] = {}
    makes_none = []
    for settings in described.get("broker", {}).values():
        makes_none.append(settings.pop(_MAKES_TOPICS, {}).get("value") == "false")
        for name, setting in settings.items():
            value = int(setting["value"])
            of_brokers[name] = min(of_brokers.get(name, value), value)
    missing = _missing(admin, topics) if makes_none and all(makes_none) else frozenset()
    return replace(cluster, topics=of_topics, brokers=of_brokers, missing=missing)


def _ids(admin: KafkaAdminClient, topics: Iterable[str]) -> dict[str, str]:
    ids = {described["name"]: topic_id(described) for described in admin.describe_topics(list(topics))}
    return {name: topic_uuid for name, topic_uuid in ids.items() if topic_uuid is not None}


def _missing(admin: KafkaAdminClient, topics: Iterable[str]) -> frozenset[str]:
    """A topic that the job may not ask about answers with another error, and may be there."""
    unknown_topic = UnknownTopicOrPartitionError.errno
    return frozenset(
        described["name"]
        for described in admin.describe_topics(list(topics))
        if described["error_code"] == unknown_topic
    )


def admin_at(bootstrap: BrokersAt, *, within_s: float = _ANSWER_S) -> KafkaAdminClient:
    """An admin client that waits `within_s` for the brokers, and ten seconds for each response. Raises what `connected`
    raises.
    """
    options = {
        "bootstrap_timeout_ms": round(within_s * 1000),
        "request_timeout_ms": round(_ANSWER_S * 1000),
        **LONG_LIVED,
    }
    return connected(KafkaAdminClient, bootstrap, options)
