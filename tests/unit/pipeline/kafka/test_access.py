"""What is said of brokers that do not let the job in."""

from typing import Any

import pytest

from pipeline.config.kafka_section import Kafka
from pipeline.errors import RefusedError
from pipeline.kafka.access import Needs, refused
from pipeline.kafka.cluster import Cluster

LOGIN = Cluster("a:1", Kafka(security_protocol="SASL_SSL", username="job", password="pw"))
TLS = Cluster("a:1", Kafka(security_protocol="SSL"))
OWN = Cluster("a:1", Kafka(security_protocol="SSL", certificate="/own.pem"))
CLOSED = "KafkaConnectionError: socket disconnected"


@pytest.mark.parametrize(
    ("brokers", "failures", "said", "remedy"),
    [
        (LOGIN, [CLOSED, "SaslAuthenticationFailedError: Authentication failed"], "Authentication failed", "username"),
        (LOGIN, [CLOSED, CLOSED], "disconnected at the login", "kafka.password_file"),
        (TLS, ["SSLError: certificate verify failed: certificate has expired"], "has expired", "renew the certificate"),
        (TLS, ["SSLError: certificate verify failed: self-signed"], "verify failed", "kafka.ca"),
        (TLS, ["[SSL: X] tlsv13 alert certificate required (_ssl.c:1)"], "required", "ask for the job's own"),
        (OWN, ["[SSL: X] sslv3 alert certificate unknown (_ssl.c:1)"], "unknown", "-enddate -in /own.pem"),
        (OWN, ["[SSL: X] sslv3 alert certificate expired (_ssl.c:1)"], "expired", "renew it if its time is over"),
        (OWN, ["[SSL: X] tlsv1 alert unknown ca (_ssl.c:1)"], "unknown ca", "have them trust its authority"),
    ],
)
def test_what_a_restart_cannot_mend_is_refused(brokers: Cluster, failures: list[str], said: str, remedy: str) -> None:
    error = refused(brokers, failures)
    assert isinstance(error, RefusedError)
    assert said in str(error)
    assert remedy in str(error.hint)


@pytest.mark.parametrize(("brokers", "failure"), [(TLS, CLOSED), (LOGIN, "KafkaConnectionError: 111 ECONNREFUSED")])
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
