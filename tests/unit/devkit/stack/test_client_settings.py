import ssl
from pathlib import Path

import pytest

from devkit.errors import InvalidFileError, UsageError
from devkit.stack.addresses import VARIABLES, Addresses, read_addresses
from devkit.stack.client_settings import PLAIN, ClientSettings, read_client_settings
from devkit.stack.properties_file import read_properties

SECRET = 'hunter2 with "quotes"'
JAAS = (
    "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
    '  username="reader" \\\n  password="hunter2 with \\\\"quotes\\\\"";\n'
)
GOOD = "kafka: a.example:9092,b.example:9092\ns3_endpoint: http://s3:9000\nmock_api: http://mock:8080\n"


def read(tmp_path: Path, text: str) -> ClientSettings:
    path = tmp_path / "client.properties"
    path.write_text(text)
    return read_client_settings(path)


def test_as_javas_clients_have_it(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        f"bootstrap.servers=a:1,b:2\nsecurity.protocol=sasl_plaintext\nsasl.mechanism=SCRAM-SHA-512\n{JAAS}group.id=x\n",
    )
    assert (settings.bootstrap, settings.text) == ("a:1,b:2", "SASL_PLAINTEXT, login SCRAM-SHA-512 as reader")
    assert settings.unused == ("group.id",)
    assert settings.client_arguments() == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "reader",
        "sasl_plain_password": SECRET,
    }
    assert "hunter2" not in repr(settings) + settings.model_dump_json()
    assert settings.redacted(f"it said: {SECRET}!") == "it said: …!"


def test_as_librdkafka_has_it(tmp_path: Path) -> None:
    settings = read(
        tmp_path,
        "metadata.broker.list=a:1\nsecurity.protocol=SASL_SSL\nsasl.mechanisms=PLAIN\n"
        "sasl.username=reader\nsasl.password=hunter2\nssl.endpoint.identification.algorithm=none\n",
    )
    arguments = settings.client_arguments()
    assert (settings.bootstrap, arguments["sasl_plain_username"]) == ("a:1", "reader")
    context = arguments["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    assert (context.check_hostname, context.verify_mode) == (False, ssl.CERT_REQUIRED)


@pytest.mark.parametrize("text", ["", "bootstrap.servers=a:1\n"])
def test_without_a_security_protocol_it_is_plain(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, text).client_arguments() == PLAIN.client_arguments() == {}


def test_tls_checks_the_certificate_and_the_host(tmp_path: Path) -> None:
    context = read(tmp_path, "security.protocol=SSL\n").client_arguments()["ssl_context"]
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("\nsecurity.protocol=TLS", r":2:1: security\.protocol: is not supported \(got 'TLS'\); write one of PL"),
        ("sasl.mechanism=GSSAPI", r":1:1: sasl\.mechanism: is not supported \(got 'GSSAPI'\)"),
        ("sasl.machanism=PLAIN", r":1:1: sasl\.machanism: is not known; did you mean 'sasl\.mechanism'\?"),
        ("ssl.keystore.key=-----BEGIN hunter2", r":1:1: ssl\.keystore\.key: is not known; did you mean"),
        ("security.protocol=SASL_SSL", r":1:1: security\.protocol: SASL_SSL needs a user and a password"),
        ("sasl.password=hunter2\nsasl.username=a", r":1:1: sasl\.password: is not used with the security"),
        ("security.protocol=SASL_SSL\nsasl.jaas.config=Krb5 hunter2;", r":2:1: sasl\.jaas\.config: is not understood"),
        ("ssl.truststore.type=JKS", r":1:1: ssl\.truststore\.type: is not supported \(got 'JKS'\); convert it: `k"),
        ("ssl.keystore.location=k.p12", r":1:1: ssl\.keystore\.location: is no PEM \(got 'k\.p12'\); convert it"),
        ("ssl.ca.location=none.pem", r":1:1: ssl\.truststore\.location: there is no file none\.pem"),
    ],
)
def test_what_is_wrong_is_named_with_its_line_and_no_secret(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(InvalidFileError, match=problem) as raised:
        read(tmp_path, text)
    assert "hunter2" not in raised.value.render()


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidFileError) as raised:
        read(tmp_path, "security.protocol=TLS\nsasl.mechanism=GSSAPI\nsasl.machanism=a\n")
    assert [problem.line for problem in raised.value.problems] == [1, 2, 3]


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        read_client_settings(tmp_path / "none")
    (tmp_path / "store").write_bytes(b"\xfe\xed\xfe\xed")
    with pytest.raises(UsageError, match="is no text in UTF-8"):
        read_client_settings(tmp_path / "store")


def test_a_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    pem = tmp_path / "ca.pem"
    pem.write_text("nothing")
    settings = read(tmp_path, f"security.protocol=SSL\nssl.truststore.location={pem}\n")
    with pytest.raises(UsageError, match=rf"{pem}: ") as raised:
        settings.client_arguments()
    assert "-----BEGIN" in str(raised.value.hint)


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("a=1", [(1, "a", "1")]),
        ("# a\n\n! b\n  a.b : c = d ", [(4, "a.b", "c = d ")]),
        ("a value", [(1, "a", "value")]),
        ("a", [(1, "a", "")]),
        ("a = one \\\n    two\nb=2", [(1, "a", "one two"), (3, "b", "2")]),
        (r"a\=b\:c\ d=\u00e9\tx\\", [(1, "a=b:c d", "é\tx\\")]),
        ("a=x\\\\\nb=y", [(1, "a", "x\\"), (2, "b", "y")]),
        ("a=1\r\na=2\r\n", [(1, "a", "1"), (2, "a", "2")]),
        ("a=1\\", [(1, "a", "1")]),
    ],
)
def test_as_java_reads_it(text: str, entries: list[tuple[int, str, str]]) -> None:
    assert list(read_properties(text)) == entries


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "staging.yaml"
    path.write_text(GOOD)
    return path


def test_from_a_file_and_credentials_from_the_environment(file: Path) -> None:
    addresses = read_addresses(file, {"DEVKIT_S3_SECRET_KEY": "hush", "DEVKIT_KAFKA": "other:1"})
    assert addresses.kafka == "a.example:9092,b.example:9092", "the environment's is not for a file"
    assert (addresses.s3_endpoint, addresses.mock_api) == ("http://s3:9000", "http://mock:8080")
    assert not addresses.may_recreate_topics
    assert (addresses.access_key, addresses.secret_key, addresses.s3_region) == ("devkit-local", "hush", "us-east-1")


def test_from_the_environment() -> None:
    environment = {
        "DEVKIT_KAFKA": "k:9092",
        "DEVKIT_S3_ENDPOINT": "https://s3",
        "DEVKIT_S3_REGION": "eu-1",
        "DEVKIT_MOCK_API": "http://m:1",
        "DEVKIT_TRIPLE_STORE_QUERY": "http://t:1/ds/query",
        "DEVKIT_TRIPLE_STORE_UPDATE": "http://t:1/ds/update",
        "DEVKIT_MAY_RECREATE_TOPICS": "true",
        "DEVKIT_MAY_CLEAR_TRIPLE_STORE": "true",
        "DEVKIT_S3_ACCESS_KEY": "me",
        "DEVKIT_S3_SECRET_KEY": "hush",
        "DEVKIT_TRIPLE_STORE_USER": "you",
        "DEVKIT_TRIPLE_STORE_PASSWORD": "hush2",
    }
    assert set(VARIABLES.values()) < set(environment)
    addresses = read_addresses(None, environment)
    assert addresses.may_recreate_topics
    assert addresses.may_clear_triple_store
    assert addresses.triple_store_update == "http://t:1/ds/update"
    assert (addresses.access_key, addresses.secret_key, addresses.s3_region) == ("me", "hush", "eu-1")
    login = addresses.triple_store_login()
    assert login is not None
    assert (login.user, login.password) == ("you", "hush2")
    assert "hush" not in repr(addresses) + addresses.model_dump_json() + repr(login)


def test_every_problem_of_a_file_has_its_place(file: Path) -> None:
    file.write_text("kafka: a.example\nsecret_key: hush\nmock: http://m:1\ns3_endpoint: http://s3:9000\n")
    with pytest.raises(InvalidFileError) as caught:
        read_addresses(file, {})
    assert [(problem.line, problem.text.split(":")[0].split()[0]) for problem in caught.value.problems] == [
        (1, "kafka"),
        (2, "secret_key"),
        (3, "mock"),
    ]
    text = str(caught.value)
    assert "kafka: not understood (got 'a.example'); write host:port" in text
    assert "set the variable DEVKIT_S3_SECRET_KEY" in text
    assert "hush" not in text


@pytest.mark.parametrize(("missing", "given"), [("USER", "PASSWORD"), ("PASSWORD", "USER")])
def test_half_a_login_of_the_triple_store_is_refused(file: Path, missing: str, given: str) -> None:
    addresses = read_addresses(file, {f"DEVKIT_TRIPLE_STORE_{given}": "x"})
    with pytest.raises(UsageError, match=f"the login of the triple store has no DEVKIT_TRIPLE_STORE_{missing}$"):
        addresses.triple_store_login()
    assert read_addresses(file, {f"DEVKIT_TRIPLE_STORE_{given}": ""}).triple_store_login() is None


def test_a_url_with_a_login_is_refused(file: Path) -> None:
    file.write_text(f"{GOOD}triple_store_query: http://you:hush@t:1/query\n")
    with pytest.raises(InvalidFileError) as caught:
        read_addresses(file, {})
    assert "DEVKIT_TRIPLE_STORE_USER and DEVKIT_TRIPLE_STORE_PASSWORD" in caught.value.render()
    assert "hush" not in caught.value.render()


def test_a_variable_is_named_with_what_it_wants() -> None:
    with pytest.raises(UsageError) as caught:
        read_addresses(None, {"DEVKIT_KAFKA": "http://k:1", "DEVKIT_MOCK_API": "http://m:1"})
    assert str(caught.value) == (
        "the addresses of the external stack:\n"
        "DEVKIT_KAFKA: not understood (got 'http://k:1'); write host:port, or several with commas\n"
        "DEVKIT_S3_ENDPOINT: is missing"
    )
    assert "--addresses" in (caught.value.hint or "")


@pytest.mark.parametrize("kafka", ["", "k", "k:", ":1", "k:1,", "k:1 ,l:2", "http://k:1"])
def test_what_is_no_address_of_a_broker(kafka: str) -> None:
    with pytest.raises(UsageError, match="DEVKIT_KAFKA"):
        read_addresses(None, {"DEVKIT_KAFKA": kafka, "DEVKIT_S3_ENDPOINT": "http://s", "DEVKIT_MOCK_API": "http://m"})


def test_each_variable_is_a_key() -> None:
    assert set(VARIABLES) == set(Addresses.model_fields) - {
        "access_key",
        "secret_key",
        "triple_store_user",
        "triple_store_password",
    }
