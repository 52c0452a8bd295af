"""The job's clients at a broker that asks for TLS and a login.

Set-up: a broker with a listener for TLS and a login, one that asks for the client's certificate, and a topic of ten
records. Checked: every client of the job that is no Spark gets there, and each wrong way is refused in words, with exit
code 2 and without the secret.
"""

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.admin import ACLOperation

from pipeline.aligned.start_offsets import first_offsets, require_event_time
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.config.start_position import NewStart
from pipeline.deferral.ledger_start import ledger_start
from pipeline.deferral.topic import LedgerTopic
from pipeline.deferral.wire import NullRecord
from pipeline.errors import RefusedError
from pipeline.kafka.access import require_access
from pipeline.kafka.broker_limits import ask_brokers
from pipeline.kafka.cluster import sink_brokers, source_brokers
from pipeline.metrics.lag_watch import KafkaSource
from pipeline.ops.broker import cluster_id
from pipeline.ops.copying import Copy, copy_all, opened_target
from pipeline.ops.source import opened_topic
from pipeline.records.record import SourcePartition
from pipeline.worker.ordered_writer import ordered_producer
from tests.integration.secured_broker import PASSWORD, USER, SecuredBroker, allow, write_topics

ROOMS = ("pipeline/kafka",)
SOURCE, OUTPUT, ERROR, LEDGER = "job.source", "job.output", "job.error", "job.deferred"
RECORDS = 10

pytestmark = pytest.mark.xdist_group("secured")


@pytest.fixture(scope="module")
def broker(shared_secured_broker: SecuredBroker) -> SecuredBroker:
    topics = {SOURCE: [b"%d" % number for number in range(RECORDS)], OUTPUT: [], ERROR: []}
    write_topics(shared_secured_broker, topics)
    return shared_secured_broker


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
    with closing(ordered_producer(job.sink, job.kafka)) as producer:
        assert producer.send(OUTPUT, value=b"x").get(timeout=30).topic == OUTPUT
    with opened_target(sink, OUTPUT, 2**20):
        pass


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


def test_a_certificate_whose_time_is_over_is_refused_in_words(broker: SecuredBroker) -> None:
    with pytest.raises(RefusedError, match="certificate has expired") as raised:
        require_access(config(broker, broker.expired, security_protocol="SSL"))
    assert_refused(raised.value, "renew the certificate")


@pytest.mark.parametrize(
    ("own", "remedy"),
    [("expired.pem", "renew it if its time is over"), (None, "kafka.certificate names the file")],
    ids=["whose time is over", "that is not there"],
)
def test_a_certificate_of_its_own_is_refused_in_words(broker: SecuredBroker, own: str | None, remedy: str) -> None:
    given = {} if own is None else {"certificate": str(broker.directory / own)}
    with pytest.raises(RefusedError, match="certificate") as raised:
        require_access(config(broker, broker.mutual, security_protocol="SSL", **given))
    assert_refused(raised.value, remedy)


@pytest.mark.parametrize(
    ("section", "key", "allowed", "missing", "also"),
    [
        ("source", "topic", ACLOperation.DESCRIBE, "READ", ""),
        ("source", "topic", None, "READ", ""),
        ("sink", "topic", ACLOperation.READ, "WRITE", ""),
        ("sink", "error_topic", ACLOperation.DESCRIBE, "WRITE", ""),
        ("deferral", "topic", ACLOperation.WRITE, "READ and DESCRIBE_CONFIGS", "needs CREATE"),
        ("deferral", "topic", None, "READ and WRITE and DESCRIBE_CONFIGS", "needs CREATE"),
    ],
)
def test_a_missing_right_is_refused_in_words(
    broker: SecuredBroker, section: str, key: str, allowed: ACLOperation | None, missing: str, also: str
) -> None:
    """Set-up: a topic on which the job has another right, or none at all."""
    topic = f"others.{section}.{key}.{allowed.name if allowed else 'nothing'}"
    allow(broker, topic, allowed)
    job = with_login(broker)
    job = job.model_copy(update={section: getattr(job, section).model_copy(update={key: topic})})
    words = rf"{section}\.{key}: {USER} has no right to {missing} topic {topic} at {broker.secure}"
    with pytest.raises(RefusedError, match=words) as raised:
        require_access(job)
    assert_refused(raised.value, f"an ACL for each: {missing.replace(' and ', ', ')} on {topic}")
    assert also in raised.value.render()


def test_what_clients_are_denied_later_is_refused_in_words(broker: SecuredBroker) -> None:
    topic = "others.later"
    allow(broker, topic, ACLOperation.DESCRIBE)
    with closing(KafkaProducer(bootstrap_servers=broker.plain)) as producer:
        producer.send(topic, b"x").get(timeout=30)
    job = with_login(broker)
    with (
        pytest.raises(RefusedError, match=f"topic {topic} .* cannot be read: the brokers deny it") as read,
        opened_topic(source_brokers(job), topic) as opened,
    ):
        list(opened.records({0: 0}, {0: 1}))
    assert_refused(read.value, "the ACL")
    copied = [Copy(None, b"x", ())]
    with (
        pytest.raises(RefusedError, match=f"topic {topic} .* could not be written: the brokers deny it") as written,
        opened_target(sink_brokers(job), topic, 2**20) as target,
    ):
        copy_all(copied, target)
    assert_refused(written.value, "the ACL")
    with closing(LedgerTopic(sink_brokers(job), topic, 2**20)) as ledger:
        ledger.open()
        with pytest.raises(RefusedError, match=f"topic {topic} could not be read: the brokers deny it") as read:
            list(ledger.read())
        assert_refused(read.value, "the ACL")
        with pytest.raises(RefusedError, match=f"topic {topic} could not be written: the brokers deny it") as written:
            ledger.write([NullRecord(topic, b"key", ())])
        assert_refused(written.value, "the ACL")


def assert_refused(error: RefusedError, remedy: str) -> None:
    assert remedy in error.render()
    assert PASSWORD not in error.render()
    assert error.exit_code == 2
