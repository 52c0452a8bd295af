"""A capture of a cluster that asks for TLS and a login, and one that is killed.

Set-up: the secured broker with a listener for TLS and a login by PLAIN or SCRAM, one that asks for the client's
certificate, and a topic of a hundred records. Checked: what is captured, what an error says when the way is wrong, that
no secret is in any output or file, and what a SIGKILL and a SIGTERM leave.
"""

import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.stack.client_settings import read_client_settings
from devkit.traffic.capture.take import CaptureOrder, take_capture
from devkit.waiting import wait_until
from tests.integration.cli_run import REPOSITORY
from tests.integration.flowing_records import flowing_records
from tests.integration.secured_broker import PASSWORD, USER, SecuredBroker, write_topics
from tests.unit.devkit.traffic.capture.captures import read_capture

ROOMS = ("devkit/stack", "devkit/traffic")
TOPIC = "secured.source"
RECORDS = 100
DEADLINE = timedelta(seconds=60)

pytestmark = pytest.mark.xdist_group("secured")


@pytest.fixture(scope="module")
def broker(shared_secured_broker: SecuredBroker) -> SecuredBroker:
    write_topics(shared_secured_broker, {TOPIC: [b'{"n": %d}' % number for number in range(RECORDS)]}, 2)
    return shared_secured_broker


def properties(broker: SecuredBroker, tmp_path: Path, **changed: str) -> Path:
    """As a person would write them, for the listener with a login."""
    written = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        f'username="{USER}" password="{PASSWORD}";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(broker.directory / "ca.pem"),
    }
    for name, value in changed.items():
        written[name.replace("_", ".")] = value
    path = tmp_path / "client.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in written.items() if value))
    return path


def taken(bootstrap: str, client: Path, out: Path) -> Path:
    settings = read_client_settings(client)
    order = CaptureOrder(
        bootstrap, (TOPIC,), "earliest", timedelta(days=1), RECORDS, 1 << 30, keep_text=False, client=settings
    )
    take_capture(order, out, stop=lambda: False)
    return out


@pytest.mark.parametrize(
    ("mechanism", "module"), [("PLAIN", "plain.PlainLoginModule"), ("SCRAM-SHA-512", "scram.ScramLoginModule")]
)
def test_with_tls_and_a_login(broker: SecuredBroker, tmp_path: Path, mechanism: str, module: str) -> None:
    jaas = f'org.apache.kafka.common.security.{module} required username="{USER}" password="{PASSWORD}";'
    client = properties(broker, tmp_path, sasl_mechanism=mechanism, sasl_jaas_config=jaas)
    found = read_capture(taken(broker.secure, client, tmp_path / "c.jsonl"))
    assert sorted(one.event["n"] for one in found.records) == list(range(RECORDS))
    assert found.header.source.kafka == broker.secure
    assert PASSWORD not in (tmp_path / "c.jsonl").read_text()


def test_with_a_certificate_of_the_clients(broker: SecuredBroker, tmp_path: Path) -> None:
    pem = str(broker.directory / "client.pem")
    plain = {"security_protocol": "SSL", "sasl_jaas_config": ""}
    client = properties(broker, tmp_path, **plain, ssl_keystore_location=pem)
    assert len(read_capture(taken(broker.mutual, client, tmp_path / "c.jsonl")).records) == RECORDS
    with pytest.raises(StackError):
        taken(broker.mutual, properties(broker, tmp_path, **plain), tmp_path / "none.jsonl")
    assert not list(tmp_path.glob("none*"))


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        (
            {
                "sasl_jaas_config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
                f'username="{USER}" password="not {PASSWORD}";'
            },
            # The broker may close the connection before its answer was read.
            "Authentication failed: Invalid username or password|socket disconnected",
        ),
        ({"ssl_truststore_location": "OTHER"}, "certificate"),
        ({"security_protocol": "SSL", "sasl_jaas_config": ""}, "does not answer: "),
    ],
    ids=["another password", "another authority", "no login"],
)
def test_the_wrong_way_ends_with_an_error_without_the_secret(
    broker: SecuredBroker, tmp_path: Path, changed: dict[str, str], message: str, caplog: pytest.LogCaptureFixture
) -> None:
    other = {name: value.replace("OTHER", str(broker.directory / "other-ca.pem")) for name, value in changed.items()}
    with pytest.raises(StackError, match=message) as raised:
        taken(broker.secure, properties(broker, tmp_path, **other), tmp_path / "c.jsonl")
    assert PASSWORD not in raised.value.render() + caplog.text
    assert not list(tmp_path.glob("c.jsonl*"))


def test_the_certificate_has_to_be_that_of_the_host_unless_the_file_says_otherwise(
    broker: SecuredBroker, tmp_path: Path
) -> None:
    # The broker tells its clients 127.0.0.1, so it is the first connection that is by the other name.
    elsewhere = broker.secure.replace("127.0.0.1", "localhost")
    with pytest.raises(StackError):
        taken(elsewhere, properties(broker, tmp_path), tmp_path / "c.jsonl")
    client = properties(broker, tmp_path, ssl_endpoint_identification_algorithm="none")
    assert len(read_capture(taken(elsewhere, client, tmp_path / "c.jsonl")).records) == RECORDS


@pytest.fixture
def flowing(broker: SecuredBroker) -> Iterator[None]:
    """A record to the topic every 10 ms."""
    with flowing_records(broker.plain, TOPIC, b'{"n": %d, "user": "Alice"}', first=RECORDS, every_s=0.01):
        yield


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_what_a_signal_leaves(broker: SecuredBroker, flowing: None, tmp_path: Path, number: signal.Signals) -> None:
    out, part = tmp_path / "c.jsonl", tmp_path / "c.jsonl.part"
    client = properties(broker, tmp_path)
    devkit = [sys.executable, "-m", "devkit.cli.main", "capture"]
    words = ["--kafka", broker.secure, "--kafka-config", str(client), "--topic", TOPIC, "--out", str(out)]
    with subprocess.Popen(
        [*devkit, *words], cwd=REPOSITORY, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        wait_until(
            lambda: part.exists() and len(part.read_bytes().splitlines()) > 30,
            what="thirty records in the file",
            deadline=DEADLINE,
        )
        process.send_signal(number)
        output, _ = process.communicate(timeout=60)
    assert PASSWORD not in output
    if number == signal.SIGKILL:
        assert [path.name for path in tmp_path.iterdir() if path != client] == ["c.jsonl.part"]
        finished = subprocess.run(
            [*devkit, "--finish", str(part)], cwd=REPOSITORY, capture_output=True, text=True, check=False
        )
        assert finished.returncode == 0, finished.stderr
    else:
        assert process.returncode == 0, output
        assert "interrupted" in output
    assert [path.name for path in tmp_path.iterdir() if path != client] == ["c.jsonl"]
    found = read_capture(out)
    assert found.end.ended_by == ("kill" if number == signal.SIGKILL else "interrupt")
    assert len(found.records) >= 30
    for partition in (0, 1):
        offsets = [one.offset for one in found.records if one.partition == partition]
        assert offsets == list(range(offsets[0], offsets[0] + len(offsets)))
    assert b"Alice" not in out.read_bytes()
