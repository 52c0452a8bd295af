"""How clients reach a cluster that asks for TLS and a login, a start that waits for it, and a producer's settings."""

import re
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka import KafkaConsumer, codec
from kafka.errors import KafkaTimeoutError
from pydantic import ValidationError

from pipeline import log
from pipeline.config.kafka_section import Kafka
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import BrokersAwaited
from pipeline.kafka import access as broker_wait
from pipeline.kafka.access import Needs, await_brokers, refused
from pipeline.kafka.cluster import (
    BrokersAt,
    Cluster,
    connected,
    java_client,
    python_client,
    sink_brokers,
    source_brokers,
)
from pipeline.kafka.sink import BATCH_BYTES, producer_options
from tests.unit.pipeline.making import make_config

COMPRESSION = Kafka.model_fields["compression"].annotation
LOGIN: dict[str, Any] = {"security_protocol": "SASL_PLAINTEXT", "username": "job", "password": "pw"}
BY_PASSWORD = Cluster("a:1", Kafka(security_protocol="SASL_SSL", username="job", password="pw"))
BY_TLS = Cluster("a:1", Kafka(security_protocol="SSL"))
BY_CERTIFICATE = Cluster("a:1", Kafka(security_protocol="SSL", certificate="/own.pem"))
CLOSED = "KafkaConnectionError: socket disconnected"
LARGEST_INT = 2**31 - 1
AWAY = KafkaTimeoutError("Unable to bootstrap from a:1")


def test_brokers_that_ask_for_nothing_are_their_addresses() -> None:
    assert source_brokers(make_config()) == make_config().source.bootstrap_servers
    assert python_client("a:1", KafkaConsumer) == {"bootstrap_servers": "a:1"}
    assert java_client(Kafka()) == {}


def test_every_client_gets_the_login() -> None:
    config = make_config(kafka=LOGIN | {"sasl_mechanism": "PLAIN"})
    brokers = sink_brokers(config)
    assert isinstance(brokers, Cluster)
    assert f"{brokers}" == config.sink.bootstrap_servers
    assert python_client(brokers, KafkaConsumer) == {
        "bootstrap_servers": config.sink.bootstrap_servers,
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "job",
        "sasl_plain_password": "pw",
    }
    assert java_client(config.kafka) == {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="job" password="pw";',
    }


class Drawing:
    """A client that draws addresses, of which `gone` in a row do not answer."""

    def __init__(self, *, gone: int) -> None:
        self.gone, self.waits = gone, list[int | None]()

    def __call__(self, **arguments: Any) -> dict[str, Any]:
        self.waits.append(arguments.get("bootstrap_timeout_ms"))
        if len(self.waits) <= self.gone:
            raise KafkaTimeoutError
        return arguments


def test_of_several_addresses_some_may_be_gone() -> None:
    client = Drawing(gone=5)
    found = connected(client, "gone:1,there:1", {"bootstrap_timeout_ms": 10_000})
    assert found["bootstrap_servers"] == "gone:1,there:1", "all of them, for the time when others are gone"
    assert client.waits == [1000] * 5 + [10_000], "all of it, for brokers that are slow"
    with pytest.raises(KafkaTimeoutError):
        connected(Drawing(gone=6), "gone:1,there:1")


def test_one_address_has_all_the_time() -> None:
    client = Drawing(gone=1)
    with pytest.raises(KafkaTimeoutError):
        connected(client, "a:1")
    assert client.waits == [None], "as the client has it"


@pytest.mark.parametrize("compression", [one for one in get_args(COMPRESSION) if one != "none"])
def test_whatever_a_producer_compresses_can_be_read(compression: str) -> None:
    """Ours writes records of the ledger, others those of the source; kafka-python brings a decoder of gzip alone."""
    assert getattr(codec, f"has_{compression}")()


def test_settings_of_clients_may_be_numbers_and_truth_values() -> None:
    given = {"request.timeout.ms": 5000, "retry.backoff": 1.5, "check.crcs": True, "client.rack": "a"}
    assert java_client(Kafka.model_validate({"properties": given})) == {
        "security.protocol": "PLAINTEXT",
        "request.timeout.ms": "5000",
        "retry.backoff": "1.5",
        "check.crcs": "true",
        "client.rack": "a",
    }


@given(st.text(st.characters(codec="ascii", exclude_categories=("Cc",)), min_size=1).filter(str.strip))
def test_any_password_stands_in_jaas_as_it_is(password: str) -> None:
    written = java_client(Kafka(**LOGIN | {"password": password}))["sasl.jaas.config"]
    found = re.fullmatch(r'.*ScramLoginModule required username="job" password="((?:\\.|[^"\\])*)";', written)
    assert found is not None
    assert re.sub(r"\\(.)", r"\1", found[1]) == password


def test_a_password_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("from a file\n")
    login = {name: value for name, value in LOGIN.items() if name != "password"} | {"password_file": str(file)}
    assert 'password="from a file"' in java_client(Kafka(**login))["sasl.jaas.config"]
    file.unlink()
    for reach in (java_client, lambda kafka: python_client(Cluster("a:1", kafka), KafkaConsumer)):
        with pytest.raises(RefusedError, match=rf"kafka.password_file {file} cannot be read: No such file"):
            reach(Kafka(**login))


def test_further_properties_go_where_they_are_known() -> None:
    given = {"client.rack": "a", "request.timeout.ms": "5000", "check.crcs": "false", "metadata.max.age.ms": "9"}
    kafka = Kafka(properties=given | {"only.in.java": "x"})
    assert java_client(kafka).items() >= (given | {"only.in.java": "x"}).items()
    found = python_client(Cluster("a:1", kafka), KafkaConsumer)
    assert (found["client_rack"], found["request_timeout_ms"], found["check_crcs"]) == ("a", 5000, False)
    assert "only_in_java" not in found
    with pytest.raises(RefusedError, match=r"kafka.properties.request.timeout.ms is 'soon'"):
        python_client(Cluster("a:1", Kafka(properties={"request.timeout.ms": "soon"})), KafkaConsumer)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"security_protocol": "SASL_SSL"}, "needs a login"),
        ({"username": "a", "password": "b"}, "is not used with kafka.security_protocol PLAINTEXT"),
        ({**LOGIN, "password_file": "f"}, "both given"),
        ({"ca": "ca.pem"}, "kafka.ca is not used"),
        ({"properties": {"acks": "1"}}, "acks is set by the job"),
        ({"properties": {"buffer.memory": "3MiB"}}, "set by the job, to twice sink.max.request.size"),
        ({"properties": {"max.block.ms": 9}}, "set by the job, by sink.delivery_timeout"),
        ({"properties": {"sasl.jaas.config": "x"}}, "sasl.jaas.config is set by the job"),
        ({"properties": {"Client Rack": "x"}}, "is no name of a Kafka client's setting"),
    ],
)
def test_what_cannot_be(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(problem)):
        Kafka.model_validate(given)


@pytest.mark.parametrize("key", ["ca", "certificate"])
@pytest.mark.parametrize("content", [None, b"no PEM"])
def test_a_file_that_cannot_be_used_is_named(tmp_path: Path, key: str, content: bytes | None) -> None:
    file = tmp_path / "x.pem"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(RefusedError, match=rf"kafka.{key}: {file} cannot be used: (No such file|it is no PEM)"):
        python_client(Cluster("a:1", Kafka(security_protocol="SSL", **{key: str(file)})), KafkaConsumer)


@pytest.mark.parametrize(
    ("brokers", "failures", "said", "remedy"),
    [
        (
            BY_PASSWORD,
            [CLOSED, "SaslAuthenticationFailedError: Authentication failed"],
            "Authentication failed",
            "username",
        ),
        (BY_PASSWORD, [CLOSED, CLOSED], "disconnected at the login", "kafka.password_file"),
        (
            BY_TLS,
            ["SSLError: certificate verify failed: certificate has expired"],
            "has expired",
            "renew the certificate",
        ),
        (BY_TLS, ["SSLError: certificate verify failed: self-signed"], "verify failed", "kafka.ca"),
        (BY_TLS, ["[SSL: X] tlsv13 alert certificate required (_ssl.c:1)"], "required", "ask for the job's own"),
        (BY_CERTIFICATE, ["[SSL: X] sslv3 alert certificate unknown (_ssl.c:1)"], "unknown", "-enddate -in /own.pem"),
        (
            BY_CERTIFICATE,
            ["[SSL: X] sslv3 alert certificate expired (_ssl.c:1)"],
            "expired",
            "renew it if its time is over",
        ),
        (BY_CERTIFICATE, ["[SSL: X] tlsv1 alert unknown ca (_ssl.c:1)"], "unknown ca", "have them trust its authority"),
    ],
)
def test_what_a_restart_cannot_mend_is_refused(brokers: Cluster, failures: list[str], said: str, remedy: str) -> None:
    error = refused(brokers, failures)
    assert isinstance(error, RefusedError)
    assert said in str(error)
    assert remedy in str(error.hint)


@pytest.mark.parametrize(
    ("brokers", "failure"), [(BY_TLS, CLOSED), (BY_PASSWORD, "KafkaConnectionError: 111 ECONNREFUSED")]
)
def test_a_broker_that_is_away_may_come_back(brokers: Cluster, failure: str) -> None:
    error = refused(brokers, [failure])
    assert not isinstance(error, RefusedError)
    assert failure in str(error)


@pytest.mark.parametrize(
    ("described", "lacking"),
    [
        ({"error_code": 0, "authorized_operations": ["DESCRIBE", "READ"]}, ("WRITE",)),
        ({"error_code": 0, "authorized_operations": ["READ", "WRITE", "ALTER"]}, ()),
        ({"error_code": 0, "authorized_operations": ["ALL"]}, ()),
        ({"error_code": 29, "authorized_operations": None}, ("READ", "WRITE")),
        ({"error_code": 3, "authorized_operations": None}, ()),  # not there, which another look says
        ({"error_code": 0}, ()),  # of a broker that is too old to say
        ({}, ()),
    ],
)
def test_the_rights_that_a_topic_lacks(described: dict[str, Any], lacking: tuple[str, ...]) -> None:
    assert Needs("sink.topic", "out", ("READ", "WRITE")).lacking(described) == lacking


def test_the_producer_gives_up_on_no_record_before_the_process_ends() -> None:
    """Or the later records of its page leave before it, and the replay brings it behind them."""
    options = producer_options(make_config().sink, Kafka())
    assert options["kafka.delivery.timeout.ms"] == LARGEST_INT
    assert options["kafka.max.block.ms"] == LARGEST_INT
    assert (options["kafka.acks"], options["kafka.enable.idempotence"]) == ("all", "true")


@pytest.mark.parametrize(("limit", "request_ms"), [("5s", 4800), ("2min", 30_000)])
def test_an_incident_may_have_it_give_up(limit: str, request_ms: int) -> None:
    sink = make_config(sink={"delivery_timeout": limit}).sink
    options = producer_options(sink, Kafka())
    assert sink.delivery_timeout is not None
    limit_ms = 1000 * sink.delivery_timeout.total_seconds()
    assert options["kafka.delivery.timeout.ms"] == options["kafka.max.block.ms"] == limit_ms
    # The producer's own rule, by which it refuses to be made.
    assert int(options["kafka.linger.ms"]) + request_ms <= limit_ms
    assert options["kafka.request.timeout.ms"] == request_ms


def test_a_batch_is_as_large_as_the_topics_take() -> None:
    sink = make_config().sink
    assert producer_options(sink, Kafka())["kafka.batch.size"] == BATCH_BYTES
    assert producer_options(sink, Kafka(), 500_000)["kafka.batch.size"] == 500_000


class Brokers:
    """Those of each cluster fail so many times. An attempt takes all of its time, a pause all of its own."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, error: Exception = AWAY, **failures: int) -> None:
        self.error, self.failures = error, failures
        self.now = 0.0
        self.asked: list[tuple[str, float]] = []
        self.said: list[BrokersAwaited] = []
        monkeypatch.setattr(broker_wait, "admin_at", self.admin_at)
        monkeypatch.setattr(log, "emit", self.said.append)

    def admin_at(self, brokers: BrokersAt, *, within_s: float) -> Any:
        name = str(brokers).partition(":")[0]
        self.asked.append((name, within_s))
        if self.failures[name]:
            self.failures[name] -= 1
            self.now += within_s
            raise self.error
        return self

    def close(self) -> None:
        pass

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def await_them(self, config: PipelineConfig) -> None:
        await_brokers(config, clock=lambda: self.now, sleep=self.sleep)


def config(source: str = "a:1", sink: str = "a:1", **sections: Any) -> PipelineConfig:
    at = {"source": {"bootstrap_servers": source}, "sink": {"bootstrap_servers": sink}}
    return make_config(**at, stall_timeout="60s", **sections)


def test_brokers_that_answer_are_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=0, b=0)
    brokers.await_them(config())
    assert [name for name, _ in brokers.asked] == ["a"]
    brokers.await_them(config(sink="b:1"))
    assert [name for name, _ in brokers.asked] == ["a", "a", "b"]
    assert (brokers.said, brokers.now) == ([], 0)


def test_the_log_says_why_it_waits_and_how_long_it_will(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=3)
    brokers.await_them(config())
    assert [one.remaining_s for one in brokers.said] == [58.0, 52.5, 42.0]
    assert {(one.bootstrap, one.reason) for one in brokers.said} == {("a:1", f"KafkaTimeoutError: {AWAY}")}


def test_source_and_sink_have_one_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, a=5, b=1000)
    with pytest.raises(
        PipelineError, match=r"^kafka broker unreachable at b:1 \(.*\); the start waited 60 s$"
    ) as ended:
        brokers.await_them(config(sink="b:1"))
    assert ended.value.exit_code == 1
    assert "bootstrap_servers" in str(ended.value.hint)
    assert brokers.now == 60
    remaining = [one.remaining_s for one in brokers.said]
    assert remaining == sorted(remaining, reverse=True)


def test_a_login_that_is_refused_ends_the_start_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    brokers = Brokers(monkeypatch, OSError("SaslAuthenticationFailedError: wrong"), a=1000)
    with pytest.raises(RefusedError, match="does not let the job in"):
        brokers.await_them(config(kafka=LOGIN))
    assert (len(brokers.asked), brokers.said) == (1, [])
    away = Brokers(monkeypatch, a=2)
    away.await_them(config(kafka=LOGIN))
    assert len(away.said) == 2, "brokers with a login are waited for too"
