"""How the brokers are reached: by TLS, with a login, and with what other settings of their clients."""

import re
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, field_validator, model_validator

from pipeline.config.section import Section, require_something

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
_Text = Annotated[str, AfterValidator(require_something)]
_Path = Annotated[str, AfterValidator(require_something)]


def _as_java_reads_it(value: object) -> object:
    """YAML's numbers and booleans as the text that Java's clients read."""
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else value


_Setting = Annotated[str, BeforeValidator(_as_java_reads_it, json_schema_input_type=str | int | float | bool)]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:\.[a-z0-9]+)+")
_OWN = {
    r"bootstrap\.servers": "by source.bootstrap_servers and sink.bootstrap_servers",
    r"security\.protocol": "by kafka.security_protocol",
    r"sasl\..*": "by kafka.sasl_mechanism, kafka.username and kafka.password_file",
    r"ssl\..*": "by kafka.ca, kafka.certificate, kafka.key_password and kafka.check_hostname",
    r"compression\.type": "by kafka.compression",
    r"max\.request\.size": "by sink.max.request.size",
    r"buffer\.memory": "to twice sink.max.request.size, and at least 32MiB",
    r"batch\.size": "to 1MiB, or to what the topics take",
    r"linger\.ms": "to 200ms",
    r"delivery\.timeout\.ms|max\.block\.ms": "by sink.delivery_timeout",
    r"auto\.offset\.reset": "by where a new job starts (--new)",
    r"acks": "to all: no record may be lost",
    r"isolation\.level": "to read_committed",
    r"group\.id|client\.id|transactional\.id|enable\..*|max\.in\.flight.*": "as its delivery depends on it",
    r".*(?:serializer|deserializer|interceptor\.classes)": "as its delivery depends on it",
}
"""Settings that the job gives, as patterns, and by which key or to what."""


class Kafka(Section):
    """How the brokers of source and sink are reached, by every client of the job and of its operators' commands. Paths
    are the same on every machine of the job.
    """

    security_protocol: Protocol = Field(
        default="PLAINTEXT", description="Whether connections are encrypted (`SSL`), and log in (`SASL`)."
    )
    sasl_mechanism: Mechanism = Field(default="SCRAM-SHA-512", description="How a connection logs in.")
    username: _Text | None = Field(default=None, description="Name of the login. Default: no login.")
    password: _Text | None = Field(
        default=None, description="Password of the login; `password_file` keeps it out of the configuration."
    )
    password_file: _Path | None = Field(
        default=None, description="File that holds the password of the login and nothing else. Default: no file."
    )
    ca: _Path | None = Field(
        default=None,
        description="PEM file with the certificates of the authorities that the brokers' certificates are trusted by. "
        "Default: those of the system, and of Java.",
    )
    certificate: _Path | None = Field(
        default=None,
        description="PEM file with the client's private key in PKCS#8 and its certificates, for brokers that ask for "
        "one. Default: no certificate.",
    )
    key_password: _Text | None = Field(
        default=None, description="Password of the private key in `certificate`. Default: it has none."
    )
    check_hostname: bool = Field(
        default=True, description="Whether a broker's certificate has to be for the host that was connected to."
    )
    compression: Literal["none", "gzip", "snappy", "lz4", "zstd"] = Field(
        default="none",
        description="How outputs and error events are compressed. Limits are on records before that.",
    )
    properties: dict[str, _Setting] = Field(
        default={},
        description="Further settings of Kafka's clients, by Java's names. Spark's source and sink get all of them, "
        "the job's other clients those that they know. Not those that have a key of their own in the configuration.",
        examples=[{"client.rack": "eqiad-a"}],
    )

    @field_validator("properties")
    @classmethod
    def _not_the_jobs_own(cls, properties: dict[str, str]) -> dict[str, str]:
        for name in properties:
            given_by = next((how for pattern, how in _OWN.items() if re.fullmatch(pattern, name)), None)
            if given_by is not None:
                raise ValueError(f"{name} is set by the job, {given_by}: remove it")
            if _NAME.fullmatch(name) is None:
                raise ValueError(f"{name[:60]!r} is no name of a Kafka client's setting, as client.rack is")
        return properties

    @model_validator(mode="after")
    def _whole(self) -> Self:
        logs_in = self.security_protocol.startswith("SASL")
        if self.password is not None and self.password_file is not None:
            raise ValueError("kafka.password and kafka.password_file are both given: write one of them")
        has_login = self.username is not None and (self.password is not None or self.password_file is not None)
        if logs_in and not has_login:
            raise ValueError(
                f"kafka.security_protocol {self.security_protocol} needs a login: write kafka.username and "
                "kafka.password_file"
            )
        unused = [name for name in ("username", "password", "password_file") if getattr(self, name) is not None]
        if unused and not logs_in:
            raise ValueError(
                f"kafka.{unused[0]} is not used with kafka.security_protocol {self.security_protocol}: write SASL_SSL, "
                "or remove it"
            )
        for name in ("ca", "certificate"):
            if getattr(self, name) is not None and not self.is_encrypted:
                raise ValueError(
                    f"kafka.{name} is not used with kafka.security_protocol {self.security_protocol}: write SSL or "
                    "SASL_SSL, or remove it"
                )
        return self

    @property
    def is_encrypted(self) -> bool:
        """Whether connections use TLS."""
        return self.security_protocol.endswith("SSL")

    def login(self) -> str:
        """The password. Raises OSError when its file cannot be read, ValueError when it is empty."""
        if self.password_file is None:
            return self.password or ""
        return require_something(Path(self.password_file).read_text(encoding="utf-8").rstrip("\r\n"))
