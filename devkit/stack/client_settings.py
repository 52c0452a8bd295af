"""How to reach a Kafka that asks for TLS or for a login, from a file as Kafka's own clients have it.

    client.properties ── read_client_settings ──> ClientSettings ── client_arguments ──> kafka-python

Java's names count, and those of librdkafka (kcat) where it has others. Secrets are in no message, and in no repr.
"""

import re
import ssl
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, SecretStr

from devkit.errors import InvalidFileError, Problem, UsageError
from devkit.stack.properties_file import read_properties
from located_config.near import near_miss

Protocol = Literal["PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"]
Mechanism = Literal["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512")
_JAAS = re.compile(
    r"\s*org\.apache\.kafka\.common\.security\.(?:plain\.Plain|scram\.Scram)LoginModule\s+required\s+(.*?);\s*",
    re.DOTALL,
)
_JAAS_OPTION = re.compile(r"(\w+)\s*=\s*(?:\"((?:\\.|[^\"\\])*)\"|(\S+))")

_SAME: Mapping[str, str] = MappingProxyType(
    {
        "metadata.broker.list": "bootstrap.servers",
        "sasl.mechanisms": "sasl.mechanism",
        "ssl.ca.location": "ssl.truststore.location",
        "ssl.ca.pem": "ssl.truststore.certificates",
        "ssl.certificate.location": "ssl.keystore.location",
    }
)
"""librdkafka's names for what Java's clients call otherwise."""
_KEYS = (
    "bootstrap.servers",
    "security.protocol",
    "sasl.mechanism",
    "sasl.jaas.config",
    "sasl.username",
    "sasl.password",
    "ssl.truststore.type",
    "ssl.truststore.location",
    "ssl.truststore.certificates",
    "ssl.keystore.type",
    "ssl.keystore.location",
    "ssl.key.location",
    "ssl.key.password",
    "ssl.endpoint.identification.algorithm",
)
_FOR_SECURITY = ("security.", "sasl.", "ssl.", "enable.ssl.")
_TO_PEM = "convert it: `keytool -exportcert -rfc -keystore FILE -alias NAME > ca.pem`, and name that with type PEM"


class ClientSettings(BaseModel):
    """Paths are of PEM files; `ca_pem` is the text of one. Without a CA those of the system count.

    `unused` are keys of the file that have nothing to do with the way to the cluster.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    bootstrap: str | None = None
    protocol: Protocol = "PLAINTEXT"
    mechanism: Mechanism = "PLAIN"
    username: str | None = None
    password: SecretStr | None = None
    ca: Path | None = None
    ca_pem: str | None = None
    certificate: Path | None = None
    key: Path | None = None
    key_password: SecretStr | None = None
    check_hostname: bool = True
    unused: tuple[str, ...] = ()

    def client_arguments(self) -> dict[str, Any]:
        """The arguments of kafka-python's clients. Raises UsageError where a certificate or key cannot be loaded."""
        if self.protocol == "PLAINTEXT":
            return {}
        arguments: dict[str, Any] = {"security_protocol": self.protocol}
        if self.protocol.startswith("SASL") and self.password is not None:
            arguments |= {
                "sasl_mechanism": self.mechanism,
                "sasl_plain_username": self.username,
                "sasl_plain_password": self.password.get_secret_value(),
            }
        if self.protocol.endswith("SSL"):
            arguments["ssl_context"] = self._context()
        return arguments

    @property
    def text(self) -> str:
        """For a person: how it is reached, without any secret."""
        login = f", login {self.mechanism} as {self.username}" if self.protocol.startswith("SASL") else ""
        return f"{self.protocol}{login}"

    def redacted(self, text: str) -> str:
        """The text without the secrets, should they be in it."""
        for secret in (self.password, self.key_password):
            if secret is not None and secret.get_secret_value():
                text = text.replace(secret.get_secret_value(), "…")
        return text

    def _context(self) -> ssl.SSLContext:
        file: Path | None = self.ca
        try:
            context = ssl.create_default_context(cafile=file, cadata=self.ca_pem)
            context.check_hostname = self.check_hostname
            if self.certificate is not None:
                file = self.certificate
                # Without a password OpenSSL would ask for one at the terminal.
                secret = self.key_password.get_secret_value() if self.key_password else ""
                context.load_cert_chain(self.certificate, self.key, password=lambda: secret)
        except (ssl.SSLError, OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else "is no PEM that can be loaded"
            raise UsageError(
                f"{file or 'the certificates in the file'}: {self.redacted(str(reason))}",
                hint="PEM begins with -----BEGIN; of a key with a password, ssl.key.password has to be that password",
            ) from None
        return context


PLAIN = ClientSettings()


def read_client_settings(path: Path) -> ClientSettings:
    """Paths in it are from where the command runs, as Kafka's clients take them.

    Raises UsageError where it cannot be read, InvalidFileError naming line, value and remedy of all that is wrong.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise UsageError(
            f"{path} is no text in UTF-8", hint="a JKS or PKCS12 store is not the client's file"
        ) from error
    entries = {_SAME.get(key, key): (line, value) for line, key, value in read_properties(text)}
    reader = _Reader(entries)
    settings = reader.settings()
    if reader.problems:
        raise InvalidFileError(path, sorted(reader.problems, key=lambda problem: problem.line))
    assert settings is not None
    return settings


class _Reader:
    """Reads the entries, and collects the problems."""

    def __init__(self, entries: Mapping[str, tuple[int, str]]) -> None:
        self._entries = entries
        self.problems: list[Problem] = []

    def settings(self) -> ClientSettings | None:
        unused = tuple(self._unused())
        protocol = self._one_of("security.protocol", _PROTOCOLS, "PLAINTEXT")
        mechanism = self._one_of("sasl.mechanism", _MECHANISMS, "PLAIN")
        username, password = self._login()
        if protocol.startswith("SASL") and (not username or password is None):
            line = self._line("security.protocol")
            text = f"security.protocol: {protocol} needs a user and a password"
            self._add(line, text, "write sasl.jaas.config, or sasl.username and sasl.password")
        elif not protocol.startswith("SASL") and password is not None:
            key = next(key for key in ("sasl.jaas.config", "sasl.password") if key in self._entries)
            text = f"{key}: is not used with the security.protocol {protocol}"
            self._add(self._line(key), text, "write security.protocol=SASL_SSL, or leave the login out")
        for kind in ("truststore", "keystore"):
            self._pem(kind)
        key_password = self._value("ssl.key.password")
        if self.problems:
            return None
        return ClientSettings.model_validate(
            {
                "bootstrap": self._value("bootstrap.servers"),
                "protocol": protocol,
                "mechanism": mechanism,
                "username": username,
                "password": password,
                "ca": self._path("ssl.truststore.location"),
                "ca_pem": self._value("ssl.truststore.certificates"),
                "certificate": self._path("ssl.keystore.location"),
                "key": self._path("ssl.key.location"),
                "key_password": key_password,
                "check_hostname": self._value("ssl.endpoint.identification.algorithm", "https").lower() == "https",
                "unused": unused,
            }
        )

    def _unused(self) -> Iterator[str]:
        for key, (line, _) in self._entries.items():
            if key in _KEYS:
                continue
            if key.startswith(_FOR_SECURITY):
                if key in ("ssl.truststore.password", "ssl.keystore.password"):
                    continue  # of a store that is no PEM, which is refused by its type
                hint = near_miss(key, _KEYS) or "what is known is listed in docs/debugging.md"
                self._add(line, f"{key}: is not known", hint)
            else:
                yield key

    def _one_of(self, key: str, known: tuple[str, ...], default: str) -> str:
        value = str(self._value(key, default)).upper()
        if value not in known:
            value = self._entries[key][1]
            self._add(self._line(key), f"{key}: is not supported (got {value!r})", f"write one of {', '.join(known)}")
        return value

    def _login(self) -> tuple[str | None, str | None]:
        written = self._value("sasl.jaas.config")
        if written is None:
            return self._value("sasl.username"), self._value("sasl.password")
        match = _JAAS.fullmatch(written)
        options = {
            option[1]: re.sub(r"\\(.)", r"\1", option[2]) if option[2] is not None else option[3]
            for option in _JAAS_OPTION.finditer(match[1] if match else "")
        }
        if match is None or not {"username", "password"} <= options.keys():
            example = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="…" password="…";'
            self._add(self._line("sasl.jaas.config"), "sasl.jaas.config: is not understood", f"write {example}")
            return "unknown", ""
        return options["username"], options["password"]

    def _pem(self, store: str) -> None:
        key = f"ssl.{store}.type"
        location = self._value(f"ssl.{store}.location")
        type_ = self._value(key)
        if type_ is not None and type_.upper() != "PEM":
            self._add(self._line(key), f"{key}: is not supported (got {type_!r})", _TO_PEM)
        elif location is not None and location.lower().endswith((".jks", ".p12", ".pfx")):
            line = self._line(f"ssl.{store}.location")
            self._add(line, f"ssl.{store}.location: is no PEM (got {location!r})", _TO_PEM)
        elif location is not None and not Path(location).is_file():
            line = self._line(f"ssl.{store}.location")
            self._add(line, f"ssl.{store}.location: there is no file {location}", "paths are from where you are")

    def _value(self, key: str, default: Any = None) -> Any:
        return self._entries[key][1] if key in self._entries else default

    def _path(self, key: str) -> Path | None:
        value = self._value(key)
        return None if value is None else Path(value)

    def _line(self, key: str) -> int:
        return self._entries[key][0] if key in self._entries else 1

    def _add(self, line: int, text: str, hint: str | None) -> None:
        self.problems.append(Problem(line, 1, f"{text}; {hint}" if hint else text))
