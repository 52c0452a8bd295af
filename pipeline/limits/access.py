"""Whether the job gets into its clusters, and to its topics, before Spark starts. A login that is refused, a
certificate that is not trusted or a topic that it has no rights on is named: no restart can help.

Asked only where `kafka` says how the brokers are reached; without, Spark's own words are as good.
"""

import re
from collections.abc import Iterable, Sequence
from contextlib import closing

from kafka import KafkaAdminClient
from kafka.errors import KafkaError, TopicAuthorizationFailedError

from pipeline.cluster import BrokersAt, Cluster, python_client, sink_brokers, source_brokers
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.connection_failures import connection_failures
from pipeline.errors import PipelineError, RefusedError

_ANSWER_MS = 10_000
_OF_CERTIFICATE = re.compile(r"certificate|hostname|ssl|tls", re.IGNORECASE)
_OF_LOGIN = re.compile(r"authenticat|sasl|password|credential", re.IGNORECASE)


def require_access(config: PipelineConfig) -> None:
    """Raises RefusedError where the job may not in, PipelineError where no broker answers."""
    source, sink = config.source, config.sink
    named = "source.topics" if source.topics else "source.topic"
    read = [(named, topic) for topic in source.all_topics]
    written = [("sink.topic", sink.topic), ("sink.error_topic", sink.error_topic)]
    if source.late == "lapse":
        written.append(("sink.lapsed_topic", sink.effective_lapsed_topic))
    _require(source_brokers(config), read, "READ and DESCRIBE")
    _require(sink_brokers(config), written, "WRITE and DESCRIBE")


def _require(brokers: BrokersAt, topics: Iterable[tuple[str, str]], rights: str) -> None:
    if not isinstance(brokers, Cluster):
        return
    own = {"bootstrap_timeout_ms": _ANSWER_MS, "request_timeout_ms": _ANSWER_MS}
    client = python_client(brokers, KafkaAdminClient) | own
    with connection_failures() as why:
        try:
            with closing(KafkaAdminClient(**client)) as admin:
                found = {one["name"]: one["error_code"] for one in admin.describe_topics([name for _, name in topics])}
        except (KafkaError, OSError, ValueError) as error:
            raise refused(brokers, why or [f"{type(error).__name__}: {error}"]) from None
    denied = [(key, name) for key, name in topics if found.get(name) == TopicAuthorizationFailedError.errno]
    if denied:
        who = brokers.kafka.username or "the job's certificate"
        raise RefusedError(
            "\n".join(f"{key}: {who} has no rights on topic {name} at {brokers}" for key, name in denied),
            hint=f"give it an ACL with {rights}",
        )


def refused(brokers: Cluster, failures: Sequence[str]) -> PipelineError:
    """What to say of connections that failed for these reasons, the first one first."""
    telling = (one for one in failures if _OF_LOGIN.search(one) or _OF_CERTIFICATE.search(one))
    why = next(telling, failures[0])
    if "disconnected" in why and brokers.kafka.username is not None:
        # A broker that refuses a login ends the connection, and its words may come too late to be read.
        why = f"{why} at the login, so it is most likely refused (sasl)"
    text = f"Kafka at {brokers} does not let the job in: {why}"
    if "expired" in why:
        return RefusedError(text, hint="renew the certificate: the broker's, or its authority's in kafka.ca")
    if _OF_LOGIN.search(why):
        return RefusedError(text, hint="look at kafka.username, kafka.password_file and kafka.sasl_mechanism")
    if _OF_CERTIFICATE.search(why):
        return RefusedError(text, hint="look at kafka.ca, kafka.certificate and kafka.check_hostname")
    return PipelineError(
        f"Kafka at {brokers} does not answer: {why}", hint="look at `bootstrap_servers` and `kafka.security_protocol`"
    )
