"""The job's clients at a broker that asks for TLS and a login.

Set-up: a broker with a listener for TLS and a login, one that asks for the client's certificate, and a topic of ten
records. Checked: every client of the job that is no Spark gets there, and each wrong way is refused in words, with exit
code 2 and without the secret.
"""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaAdminClient
from kafka.admin import ACL, ACLOperation, ACLPermissionType, ResourcePattern, ResourceType

from devkit.stack.topics import recreate_topics
from pipeline.aligned.beginning import first_offsets, require_event_time
from pipeline.cluster import sink_brokers, source_brokers
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.deferral.ledger_start import ledger_start
from pipeline.deferral.round_writer import round_producer
from pipeline.deferral.topic import LedgerTopic
from pipeline.driver.start import NewStart
from pipeline.errors import RefusedError
from pipeline.limits.access import require_access
from pipeline.limits.read import ask_brokers
from pipeline.metrics.lag_watch import KafkaSource
from pipeline.ops.broker import cluster_id
from pipeline.ops.copying import opened_target
from pipeline.ops.source import opened_topic
from pipeline.records.record import SourcePartition
from tests.integration.secured_broker import PASSWORD, USER, SecuredBroker, collect_refused, secured_with

SOURCE, OUTPUT, ERROR, LEDGER = "job.source", "job.output", "job.error", "job.deferred"
RECORDS = 10


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    with secured_with(
        tmp_path_factory.mktemp("secured"),
        {SOURCE: [b"%d" % number for number in range(RECORDS)], OUTPUT: [], ERROR: []},
    ) as started:
        yield started


@pytest.fixture(autouse=True)
def unclosed() -> Iterator[None]:
    yield
    collect_refused()


def config(broker: SecuredBroker, bootstrap: str, **kafka: Any) -> PipelineConfig:
    return PipelineConfig.model_validate(
        {
            "source": {"bootstrap_servers": bootstrap, "topic": SOURCE},
            "sink": {"bootstrap_servers": bootstrap, "topic": OUTPUT, "error_topic": ERROR},
            "deferral": {"topic": LEDGER},
            "mediawiki": {"endpoint": "http://127.0.0.1:1"},
            "checkpoint": "unused",
            "kafka": {"ca": str(broker.directory / "ca.pem"), **kafka},
        }
    )


def with_login(broker: SecuredBroker, **changed: Any) -> PipelineConfig:
    login = {"security_protocol": "SASL_SSL", "username": USER, "password": PASSWORD, **changed}
    return config(broker, broker.secure, **login)


def with_certificate(broker: SecuredBroker) -> PipelineConfig:
    return config(broker, broker.mutual, security_protocol="SSL", certificate=str(broker.directory / "client.pem"))


@pytest.mark.parametrize("way", ["PLAIN", "SCRAM-SHA-512", "certificate"])
def test_every_client_of_the_job_gets_in(broker: SecuredBroker, way: str) -> None:
    job = with_certificate(broker) if way == "certificate" else with_login(broker, sasl_mechanism=way)
    source, sink = source_brokers(job), sink_brokers(job)
    require_access(job)
    found = ask_brokers(job)
    assert found.missing == ()
    assert found.limits.output_topic is not None
    assert found.source_cluster == cluster_id(source)
    require_event_time(source, [SOURCE])
    assert first_offsets(source, [SOURCE], NewStart("latest", {}))[SourcePartition(SOURCE, 0)] == RECORDS
    with opened_topic(source, SOURCE) as topic:
        assert len(list(topic.records({0: 0}, topic.bounds().end))) == RECORDS
    with closing(KafkaSource(source, [SOURCE])) as watched:
        assert watched.bounds() == {SourcePartition(SOURCE, 0): (0, RECORDS)}
    with closing(LedgerTopic(sink, f"{LEDGER}.{way.lower()}", 2**20)) as ledger:
        ledger.open(ledger_start(new=True, known=None, wish=None))
        assert list(ledger.read()) == []
    with closing(round_producer(job.sink, job.kafka)) as producer:
        assert producer.send(OUTPUT, value=b"x").get(timeout=30).topic == OUTPUT
    with opened_target(sink, OUTPUT, 2**20):
        pass


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(
    ("changed", "message", "key"),
    [
        ({"sasl_mechanism": "PLAIN", "password": f"not {PASSWORD}"}, "Authentication|disconnected", "password"),
        ({"ca": "other-ca.pem"}, "certificate verify failed", "kafka.ca"),
    ],
    ids=["another password", "another authority"],
)
def test_a_wrong_way_is_refused_in_words(
    broker: SecuredBroker, changed: dict[str, str], message: str, key: str
) -> None:
    if "ca" in changed:
        changed = {"ca": str(broker.directory / Path(changed["ca"]))}
    with pytest.raises(RefusedError, match=message) as raised:
        require_access(with_login(broker, **changed))
    assert_refused(raised.value, key)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_certificate_whose_time_is_over_is_refused_in_words(broker: SecuredBroker) -> None:
    with pytest.raises(RefusedError, match="certificate has expired") as raised:
        require_access(config(broker, broker.expired, security_protocol="SSL"))
    assert_refused(raised.value, "renew the certificate")


def test_a_topic_without_rights_is_refused_in_words(broker: SecuredBroker) -> None:
    only_others = ACL(
        "User:other",
        "*",
        ACLOperation.ALL,
        ACLPermissionType.ALLOW,
        ResourcePattern(ResourceType.TOPIC, "others.source"),
    )
    recreate_topics(broker.plain, {"others.source": (1, {})})
    with closing(KafkaAdminClient(bootstrap_servers=broker.plain)) as admin:
        admin.create_acls([only_others])
    job = with_login(broker)
    job = job.model_copy(update={"source": job.source.model_copy(update={"topic": "others.source"})})
    words = rf"source.topic: {USER} has no rights on topic others.source at {broker.secure}"
    with pytest.raises(RefusedError, match=words) as raised:
        require_access(job)
    assert_refused(raised.value, "an ACL with READ and DESCRIBE")


def assert_refused(error: RefusedError, remedy: str) -> None:
    assert remedy in error.render()
    assert PASSWORD not in error.render()
    assert error.exit_code == 2
