"""A Kafka cluster as the clients of the job reach it: its brokers' addresses, and TLS and login where it asks for them.

Cluster ─┬─ connected ───▶ a client of kafka-python: ledger, lag, aligned source, operators' commands
         └─ java_client ─▶ Kafka's own properties: Spark's source and sink
"""

import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, TypeVar

from pipeline.config.kafka_section import Kafka
from pipeline.config.pipeline_config import PipelineConfig
from pipeline.errors import RefusedError
from pipeline.kafka.record_quirks import accept_any_header_name

_LOGIN_MODULES = {"PLAIN": "plain.PlainLoginModule"}
_SCRAM = "scram.ScramLoginModule"
# kafka-python's own.
_CONNECT_MS = 30_000
_DRAWS = 5

C = TypeVar("C")


@dataclass(frozen=True)
class Cluster:
    """As text, its addresses."""

    bootstrap: str
    kafka: Kafka

    def __str__(self) -> str:
        return self.bootstrap


BrokersAt = str | Cluster
"""The addresses alone are those of brokers that ask for nothing."""


def source_brokers(config: PipelineConfig) -> BrokersAt:
    """The brokers that events are read from."""
    return brokers_of(config.source.bootstrap_servers, config.kafka)


def sink_brokers(config: PipelineConfig) -> BrokersAt:
    """The brokers of all topics that are written, the ledger's included."""
    return brokers_of(config.sink.bootstrap_servers, config.kafka)


def brokers_of(bootstrap: str, kafka: Kafka) -> BrokersAt:
    """The addresses alone where the section says nothing."""
    return bootstrap if kafka == Kafka() else Cluster(bootstrap, kafka)


def connected(client: Callable[..., C], brokers: BrokersAt, options: Mapping[str, Any] = MappingProxyType({})) -> C:
    """A kafka-python client of the class `client` that has reached one of the brokers; `options` are its arguments.
    Raises what the client raises, RefusedError for a file that cannot be read.

    The client tries one address, drawn at random, until its timeout. Where that machine is gone, the job would not
    start: so with several addresses this draws a few times, with shorter timeouts.
    """
    from kafka.errors import KafkaTimeoutError  # an executor that needs no such client does without it

    accept_any_header_name()
    arguments = {**python_client(brokers, client), **options}
    if "," not in str(brokers):
        return client(**arguments)
    limit_ms = arguments.get("bootstrap_timeout_ms", _CONNECT_MS)
    for _ in range(_DRAWS):
        with suppress(KafkaTimeoutError):
            return client(**arguments | {"bootstrap_timeout_ms": limit_ms // (2 * _DRAWS)})
    return client(**arguments)  # brokers that are slow have all of it in one piece


def python_client(brokers: BrokersAt, client: Any) -> dict[str, Any]:
    """The arguments by which a client of kafka-python gets there, one of the class `client`. Raises RefusedError for a
    file that cannot be read.
    """
    if isinstance(brokers, str):
        return {"bootstrap_servers": brokers}
    kafka = brokers.kafka
    arguments: dict[str, Any] = {"bootstrap_servers": brokers.bootstrap, "security_protocol": kafka.security_protocol}
    if kafka.security_protocol.startswith("SASL"):
        arguments |= {
            "sasl_mechanism": kafka.sasl_mechanism,
            "sasl_plain_username": kafka.username,
            "sasl_plain_password": _password(kafka),
        }
    if kafka.is_encrypted:
        arguments["ssl_context"] = _context(kafka)
    return arguments | _further(kafka, client.DEFAULT_CONFIG)


def java_client(kafka: Kafka) -> dict[str, str]:
    """Properties of a Kafka client in Java, but for the addresses; none where the section says nothing. Raises
    RefusedError for a file that cannot be read.
    """
    if kafka == Kafka():
        return {}
    properties = {**kafka.properties, "security.protocol": kafka.security_protocol}
    if kafka.security_protocol.startswith("SASL"):
        module = _LOGIN_MODULES.get(kafka.sasl_mechanism, _SCRAM)
        properties["sasl.mechanism"] = kafka.sasl_mechanism
        properties["sasl.jaas.config"] = (
            f"org.apache.kafka.common.security.{module} required username={_quoted(kafka.username or '')} "
            f"password={_quoted(_password(kafka))};"
        )
    if kafka.is_encrypted:
        if kafka.ca is not None:
            properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.location": kafka.ca}
        if kafka.certificate is not None:
            properties |= {"ssl.keystore.type": "PEM", "ssl.keystore.location": kafka.certificate}
        if kafka.key_password is not None:
            properties["ssl.key.password"] = kafka.key_password
        if not kafka.check_hostname:
            properties["ssl.endpoint.identification.algorithm"] = ""
    return properties


def _quoted(text: str) -> str:
    """As JAAS has it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _password(kafka: Kafka) -> str:
    try:
        return kafka.login()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is empty, or no text"
        raise RefusedError(f"kafka.password_file {kafka.password_file} cannot be read: {reason}") from None


def _context(kafka: Kafka) -> ssl.SSLContext:
    key, file = "ca", kafka.ca
    try:
        context = ssl.create_default_context(cafile=kafka.ca)
        context.check_hostname = kafka.check_hostname
        if kafka.certificate is not None:
            key, file = "certificate", kafka.certificate
            secret = kafka.key_password or ""
            # Without a password OpenSSL would ask for one at the terminal.
            context.load_cert_chain(kafka.certificate, password=lambda: secret)
    except (ssl.SSLError, OSError, ValueError) as error:
        is_there = isinstance(error, ssl.SSLError) or not isinstance(error, OSError)
        reason = "it is no PEM that can be loaded" if is_there else str(getattr(error, "strerror", ""))
        raise RefusedError(
            f"kafka.{key}: {file} cannot be used: {reason}",
            hint="PEM begins with -----BEGIN; `certificate` has a private key as well, and kafka.key_password is its",
        ) from None
    return context


def _further(kafka: Kafka, defaults: dict[str, Any]) -> dict[str, Any]:
    """The properties that the client knows, as numbers and truth values where it has such."""
    arguments: dict[str, Any] = {}
    for name, value in kafka.properties.items():
        argument = name.replace(".", "_")
        if argument not in defaults:
            continue
        default = defaults[argument]
        if isinstance(default, bool):
            arguments[argument] = value.lower() == "true"
            continue
        try:
            arguments[argument] = type(default)(value) if isinstance(default, int | float) else value
        except ValueError:
            raise RefusedError(f"kafka.properties.{name} is {value!r}, and has to be a number") from None
    return arguments
