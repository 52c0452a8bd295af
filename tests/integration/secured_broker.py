"""A real broker that asks its clients for TLS and a login, with certificates that are made for it.

It has, beside the kit's own listeners, SECURE (TLS, and a login by PLAIN or SCRAM), MUTUAL (TLS with a certificate of
the client's) and EXPIRED (TLS with a certificate whose time is over). Its certificates are for 127.0.0.1 alone. Clients
of the kit's listeners may do everything, others what an ACL allows; a topic without ACLs is everyone's.
"""

import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
from kafka import KafkaAdminClient, KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ResourcePattern,
    ResourceType,
    UserScramCredentialUpsertion,
)

from devkit.guardian import Guardian
from devkit.stack.parts import kafka, local_kafka
from devkit.stack.ports import LOOPBACK
from devkit.stack.topics import recreate_topics

USER = "reader"
PASSWORD = "correct horse; battery"


@dataclass(frozen=True)
class SecuredBroker:
    """Addresses, and the directory with `ca.pem`, `client.pem` (certificate and key) and `other-ca.pem`."""

    plain: str
    secure: str
    mutual: str
    expired: str
    directory: Path


@pytest.fixture(scope="session")
def shared_secured_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """One for all tests of the session; each file has topics of its own there."""
    with Guardian() as guardian:
        with pytest.MonkeyPatch.context() as patch:
            started = start_secured(guardian, tmp_path_factory.mktemp("secured"), patch)
        yield started


def start_secured(guardian: Guardian, directory: Path, monkeypatch: pytest.MonkeyPatch) -> SecuredBroker:
    """Returns when it answers."""
    _certificates(directory)
    ports = {name: f"{LOOPBACK}:{_free_port()}" for name in ("SECURE", "MUTUAL", "EXPIRED")}
    plain = kafka.render_properties

    def render(**given: Any) -> str:
        more = "".join(f",{name}://{address}" for name, address in ports.items())
        return plain(
            **given | {"listeners": given["listeners"] + more, "advertised": given["advertised"] + more}
        ) + _listeners(directory)

    monkeypatch.setattr(local_kafka, "render_properties", render)
    broker, parts = local_kafka.start_kafka(guardian, directory / "logs")
    for part in parts:
        part.await_ready()
    with closing(KafkaAdminClient(bootstrap_servers=broker.direct)) as admin:
        admin.alter_user_scram_credentials([UserScramCredentialUpsertion(USER, "SCRAM-SHA-512", PASSWORD)])
    return SecuredBroker(broker.direct, ports["SECURE"], ports["MUTUAL"], ports["EXPIRED"], directory)


def write_topics(broker: SecuredBroker, records: Mapping[str, Sequence[bytes]], partitions: int = 1) -> None:
    """Make these topics with these records, spread over their partitions."""
    recreate_topics(broker.plain, {topic: (partitions, {}) for topic in records})
    with closing(KafkaProducer(bootstrap_servers=broker.plain)) as producer:
        for topic, values in records.items():
            for number, value in enumerate(values):
                producer.send(topic, partition=number % partitions, value=value)
        producer.flush()


def allow(broker: SecuredBroker, topic: str, operation: ACLOperation | None) -> None:
    """An empty topic that is another user's, but for that operation, which USER may do."""
    resource = ResourcePattern(ResourceType.TOPIC, topic)
    acls = [ACL("User:other", "*", ACLOperation.ALL, ACLPermissionType.ALLOW, resource)]
    if operation is not None:
        acls.append(ACL(f"User:{USER}", "*", operation, ACLPermissionType.ALLOW, resource))
    recreate_topics(broker.plain, {topic: (1, {})})
    with closing(KafkaAdminClient(bootstrap_servers=broker.plain)) as admin:
        admin.create_acls(acls)


def _listeners(directory: Path) -> str:
    protocols = "PLAINTEXT:PLAINTEXT,KIT:PLAINTEXT,CONTROLLER:PLAINTEXT,SECURE:SASL_SSL,MUTUAL:SSL,EXPIRED:SSL"
    module = "org.apache.kafka.common.security"
    secure = "listener.name.secure"
    lines = [
        # The last one of a key counts.
        f"listener.security.protocol.map={protocols}",
        "ssl.keystore.type=PEM",
        f"ssl.keystore.location={directory / 'broker.pem'}",
        "ssl.truststore.type=PEM",
        f"ssl.truststore.location={directory / 'ca.pem'}",
        "sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
        f"{secure}.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-512",
        f'{secure}.plain.sasl.jaas.config={module}.plain.PlainLoginModule required user_{USER}="{PASSWORD}";',
        f"{secure}.scram-sha-512.sasl.jaas.config={module}.scram.ScramLoginModule required;",
        "listener.name.mutual.ssl.client.auth=required",
        "listener.name.expired.ssl.keystore.type=PEM",
        f"listener.name.expired.ssl.keystore.location={directory / 'expired.pem'}",
        "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users=User:ANONYMOUS",
        "allow.everyone.if.no.acl.found=true",
    ]
    return "\n".join(["", *lines, ""])


def _certificates(directory: Path) -> None:
    ca, ca_key = _certificate("ca", None)
    other, _ = _certificate("other", None)
    for name, made in (("ca", ca), ("other-ca", other)):
        (directory / f"{name}.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    for name in ("broker", "client", "expired"):
        made, key = _certificate(name, (ca, ca_key), ends_in_h=-1 if name == "expired" else 24)
        pem = key.private_bytes(
            serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
        )
        (directory / f"{name}.pem").write_bytes(pem + made.public_bytes(serialization.Encoding.PEM))


def _certificate(
    name: str, issuer: tuple[x509.Certificate, ec.EllipticCurvePrivateKey] | None, *, ends_in_h: int = 24
) -> tuple[x509.Certificate, ec.EllipticCurvePrivateKey]:
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer[0].subject if issuer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(hours=ends_in_h))
        .add_extension(x509.BasicConstraints(ca=issuer is None, path_length=None), critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(LOOPBACK))]), critical=False)
    )
    return builder.sign(issuer[1] if issuer else key, hashes.SHA256()), key


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind((LOOPBACK, 0))
        return int(probe.getsockname()[1])
