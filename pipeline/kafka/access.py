"""Whether the job gets into its clusters, and to its topics, before Spark starts. A login that is refused, a
certificate that is not trusted or a topic that it has no rights on is named: no restart can help.

Asked only where `kafka` says how the brokers are reached; without, Spark's own words are as good.
"""

import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from kafka.errors import KafkaError, TopicAuthorizationFailedError

from pipeline import log
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import BrokersAwaited
from pipeline.kafka.broker_limits import admin_at
from pipeline.kafka.cluster import BrokersAt, Cluster, sink_brokers, source_brokers
from pipeline.kafka.errors import connection_failures

_OF_CERTIFICATE = re.compile(r"certificate|hostname|ssl|tls", re.IGNORECASE)
# What the other end says of the job's own certificate.
_OF_OWN_CERTIFICATE = re.compile(r"alert ((bad|no|unsupported) )?certificate|alert unknown ca", re.IGNORECASE)
_OF_LOGIN = re.compile(r"authenticat|sasl|password|credential", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Needs:
    """A topic, the setting that names it, and what the job does with it in Kafka's terms; DESCRIBE comes with them."""

    setting: str
    topic: str
    rights: tuple[str, ...]

    def lacking(self, described: Mapping[str, Any]) -> tuple[str, ...]:
        """The rights that the broker's description of the topic does not have: all where it does not describe it, none
        where the topic is not there, or where the broker is too old to say.
        """
        if described.get("error_code") == TopicAuthorizationFailedError.errno:
            return self.rights
        granted = described.get("authorized_operations")
        if not granted or "ALL" in granted:
            return ()
        return tuple(right for right in self.rights if right not in granted)


def require_access(config: PipelineConfig) -> None:
    """Raises RefusedError where the job may not in, PipelineError where no broker answers."""
    source, sink = config.source, config.sink
    topic_setting = "source.topics" if source.topics else "source.topic"
    read = [(topic_setting, topic) for topic in source.all_topics]
    written_topics = [("sink.topic", sink.topic), ("sink.error_topic", sink.error_topic)]
    if sink.fetch_failure_topic is not None:
        written_topics.append(("sink.fetch_failure_topic", sink.fetch_failure_topic))
    if config.lapses:
        written_topics.append(("sink.lapsed_topic", sink.effective_lapsed_topic))
    if sink.inconsistency_topic is not None:
        written_topics.append(("sink.inconsistency_topic", sink.inconsistency_topic))
    _require(source_brokers(config), [Needs(key, topic, ("READ",)) for key, topic in read])
    needed = [Needs(key, topic, ("WRITE",)) for key, topic in written_topics]
    if config.deferral.policy == "defer":
        needed.append(Needs("deferral.topic", config.deferral.topic, ("READ", "WRITE", "DESCRIBE_CONFIGS")))
    _require(sink_brokers(config), needed)


def _require(brokers: BrokersAt, needed: Sequence[Needs]) -> None:
    if not isinstance(brokers, Cluster):
        return
    with connection_failures() as reasons:
        try:
            with closing(admin_at(brokers)) as admin:
                described = {topic["name"]: topic for topic in admin.describe_topics([need.topic for need in needed])}
        except (KafkaError, OSError, ValueError) as error:
            raise refused(brokers, reasons or [f"{type(error).__name__}: {error}"]) from None
    lacking = [(need, rights) for need in needed if (rights := need.lacking(described.get(need.topic, {})))]
    if lacking:
        principal = brokers.kafka.username or "the job's certificate"
        raise RefusedError(
            "\n".join(
                f"{need.setting}: {principal} has no right to {' and '.join(rights)} topic {need.topic} at {brokers}"
                for need, rights in lacking
            ),
            hint="give it an ACL for each: "
            + "; ".join(f"{', '.join(rights)} on {need.topic}" for need, rights in lacking)
            + _of_first_start(need for need, _ in lacking),
        )


def _of_first_start(lacking: Iterable[Needs]) -> str:
    if all(need.setting != "deferral.topic" for need in lacking):
        return ""
    return "; a first start makes deferral.topic where it is missing, and needs CREATE"


def refused(brokers: Cluster, failures: Sequence[str]) -> PipelineError:
    """The error for connections that failed for these reasons, the first one first."""
    causes = (failure for failure in failures if _OF_LOGIN.search(failure) or _OF_CERTIFICATE.search(failure))
    cause = next(causes, failures[0])
    if "disconnected" in cause and brokers.kafka.username is not None:
        # A broker that refuses a login ends the connection, and its words may come too late to be read.
        cause = f"{cause} at the login, so it is most likely refused (sasl)"
    text = f"Kafka at {brokers} does not let the job in: {cause}"
    if _OF_OWN_CERTIFICATE.search(cause):
        return RefusedError(text, hint=_of_own(brokers.kafka.certificate))
    if "expired" in cause:
        return RefusedError(text, hint="renew the certificate: the broker's, or its authority's in kafka.ca")
    if _OF_LOGIN.search(cause):
        return RefusedError(text, hint="look at kafka.username, kafka.password_file and kafka.sasl_mechanism")
    if _OF_CERTIFICATE.search(cause):
        return RefusedError(text, hint="look at kafka.ca, kafka.certificate and kafka.check_hostname")
    return PipelineError(
        f"Kafka at {brokers} does not answer: {cause}", hint="look at `bootstrap_servers` and `kafka.security_protocol`"
    )


def _of_own(certificate: str | None) -> str:
    if certificate is None:
        return "the brokers ask for the job's own certificate: kafka.certificate names the file with its key and it"
    return (
        "the brokers do not take the job's certificate: renew it if its time is over (`openssl x509 -noout -enddate "
        f"-in {certificate}` says when), or have them trust its authority"
    )


# Of one attempt, within which a refused connection is tried again: short at first, so that the log soon says that the
# start waits; longer for brokers that are slow.
_ATTEMPTS_S = (2.0, 5.0)
_LONGEST_S = 10.0
_PAUSE_S = 0.5


def await_brokers(
    config: PipelineConfig,
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> None:
    """Return when the brokers of source and sink have answered. Raises PipelineError at the deadline, RefusedError at
    once for a login that is refused.
    """
    limit = config.stall_timeout
    until = clock() + limit.total_seconds()
    for brokers in {str(cluster): cluster for cluster in (source_brokers(config), sink_brokers(config))}.values():
        attempts = iter(_ATTEMPTS_S)
        while (
            reason := _failure(brokers, min(next(attempts, _LONGEST_S), max(until - clock(), _PAUSE_S)))
        ) is not None:
            remaining_s = until - clock()
            if remaining_s <= 0:
                raise _unreachable(brokers, reason, limit)
            log.emit(BrokersAwaited(bootstrap=str(brokers), reason=reason, remaining_s=round(remaining_s, 3)))
            sleep(min(_PAUSE_S, remaining_s))


def _failure(brokers: BrokersAt, within_s: float) -> str | None:
    """Why no broker answers, None when one does. Raises RefusedError where a restart cannot help."""
    with connection_failures() as failures:
        try:
            with closing(admin_at(brokers, within_s=within_s)):
                return None
        except (KafkaError, OSError, ValueError) as error:
            reasons = failures or [f"{type(error).__name__}: {error}"]
    if isinstance(brokers, Cluster):
        of_cluster = refused(brokers, reasons)
        if isinstance(of_cluster, RefusedError):
            raise of_cluster
    return reasons[-1]


def _unreachable(brokers: BrokersAt, reason: str, limit: timedelta) -> PipelineError:
    return PipelineError(
        f"kafka broker unreachable at {brokers} ({reason}); the start waited {limit.total_seconds():g} s",
        hint="start the brokers, or correct `bootstrap_servers`; `stall_timeout` is how long a start waits",
    )
