"""A real Kafka broker: one KRaft node on the bundled Java runtime."""

import tempfile
from dataclasses import dataclass
from datetime import timedelta
from importlib import resources
from pathlib import Path, PurePath
from string import Template

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.jvm import jars
from devkit.jvm.runtime import java_command
from devkit.stack.parts.process import ProcessPart
from devkit.stack.parts.running import Life, require_running
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

_HEAP_BYTES = 512 * 1024 * 1024
# Any id of the right form does: a cluster of one knows no other.
_CLUSTER_ID = "ZGV2a2l0LWxvY2FsLWthZg"
_READY = timedelta(seconds=60)
_LOG4J = """\
Configuration:
  Appenders:
    Console: {name: out, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: out}]}
"""


@dataclass(frozen=True)
class KafkaBroker:
    """A broker that accepts requests at `bootstrap`."""

    bootstrap: str


def start_kafka(guardian: Guardian, logs: Path, *, port: int | None = None) -> tuple[KafkaBroker, ProcessPart]:
    """Format a data directory and start a broker; returns as soon as it has begun."""
    directory = Path(tempfile.mkdtemp(prefix="kafka-", dir=guardian.directory))
    chosen = claim_port(port, "Kafka")
    properties = directory / "server.properties"
    properties.write_text(
        render_properties(
            listeners=f"PLAINTEXT://{LOOPBACK}:{chosen}",
            advertised=f"PLAINTEXT://{LOOPBACK}:{chosen}",
            controller=f"{LOOPBACK}:{claim_port(None, 'Kafka')}",
            data=directory / "data",
        )
    )
    log4j = directory / "log4j2.yaml"
    log4j.write_text(_LOG4J)
    classpath = jars.ensure(jars.KAFKA)

    def command(main: str, *arguments: str) -> list[str]:
        return java_command(
            main,
            arguments,
            classpath=classpath,
            heap_bytes=_HEAP_BYTES,
            properties={"log4j2.configurationFile": str(log4j), "java.io.tmpdir": str(guardian.directory)},
        )

    format_data = command("kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(properties))
    formatting = guardian.spawn("kafka-format", format_data, logs=logs)
    wait_until(lambda: formatting.exit_code is not None, what="Kafka's data directory to be formatted", deadline=_READY)
    if formatting.exit_code != 0:
        raise StackError(f"Kafka's data directory could not be formatted: {formatting.last_words()}")
    broker = KafkaBroker(f"{LOOPBACK}:{chosen}")
    return broker, ProcessPart(
        guardian,
        "kafka",
        command("kafka.Kafka", str(properties)),
        address=broker.bootstrap,
        ready=lambda life: await_kafka(broker, life),
        logs=logs,
    )


def await_kafka(broker: KafkaBroker, life: Life) -> None:
    """Wait until the broker answers a request."""

    def answers() -> bool:
        require_running(life)
        try:
            admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap, bootstrap_timeout_ms=500)
        except (KafkaError, OSError, ValueError):
            return False
        try:
            return bool(admin.describe_cluster())
        except KafkaError:
            return False
        finally:
            admin.close()

    wait_until(
        answers,
        what=f"Kafka to accept requests at {broker.bootstrap}",
        deadline=_READY,
        hint=f"its log is {life.stderr}",
    )


def render_properties(
    *, listeners: str, advertised: str, controller: str, data: PurePath, inter_broker: str = "PLAINTEXT"
) -> str:
    """The broker's configuration; every stack that starts one uses this template.

    `listeners` and `advertised` are lists as Kafka writes them, of PLAINTEXT (clients on this machine) and INTERNAL
    (clients in a network of containers); `inter_broker` is the one that the broker itself uses.
    """
    template = resources.files(__package__).joinpath("server.properties").read_text()
    return Template(template).substitute(
        listeners=listeners,
        advertised=advertised,
        controller=controller,
        data=data.as_posix(),
        inter_broker=inter_broker,
    )
