"""Kafka as processes of the run: KRaft nodes on the bundled Java runtime, each a broker and a controller.

All of three are controllers too, so that each can die without the others losing their leader's election.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.jvm import jars
from devkit.jvm.pins import read_pins
from devkit.jvm.runtime import java_command
from devkit.stack.parts.kafka import KafkaBroker, await_kafka, properties_template, render_properties
from devkit.stack.parts.kafka_format import FormatCache, FormattedDirectory, new_id
from devkit.stack.parts.liveness import answers
from devkit.stack.parts.part import Lead, unproxied
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.stack.parts.process import ProcessPart
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

_HEAP_BYTES = 512 * 1024 * 1024
# The kept format has this id, and each run's cluster then gets its own: faults distinguish clusters by it.
_CLUSTER_ID = "ZGV2a2l0LWxvY2FsLWthZg"
_LOG4J = """\
Configuration:
  Appenders:
    Console: {name: out, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: out}]}
"""


@dataclass(frozen=True)
class _Node:
    """`client`, `kit` and `controller` are addresses of its listeners; at `advertised` clients find it."""

    number: int
    name: str
    directory: Path
    client: str
    advertised: str
    kit: str
    controller: str

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def properties(self) -> Path:
        return self.directory / "server.properties"


def start_kafka(
    guardian: Guardian, logs: Path, *, port: int | None = None, brokers: int = 1, lead: Lead = unproxied
) -> tuple[KafkaBroker, tuple[ProcessPart, ...]]:
    """Format data directories and start the brokers; returns as soon as they have begun. `port` is the first's."""
    nodes = [
        _node(guardian, number, "kafka" if brokers == 1 else f"kafka-{number}", port if number == 1 else None, lead)
        for number in range(1, brokers + 1)
    ]
    voters = {node.number: node.controller for node in nodes}
    for node in nodes:
        node.properties.write_text(
            render_properties(
                listeners=f"PLAINTEXT://{node.client},KIT://{node.kit}",
                advertised=f"PLAINTEXT://{node.advertised},KIT://{node.kit}",
                controller=node.controller,
                data=node.data,
                inter_broker="KIT",
                node=node.number,
                voters=voters,
            )
        )
    _format(guardian, nodes, logs)
    broker = KafkaBroker(",".join(node.advertised for node in nodes), ",".join(node.kit for node in nodes))
    return broker, tuple(_start(guardian, node, logs) for node in nodes)


def _node(guardian: Guardian, number: int, name: str, port: int | None, lead: Lead) -> _Node:
    client = f"{LOOPBACK}:{claim_port(port, 'Kafka')}"
    return _Node(
        number,
        name,
        directory=Path(tempfile.mkdtemp(prefix="kafka-", dir=guardian.directory)),
        client=client,
        advertised=lead(name, client),
        kit=f"{LOOPBACK}:{claim_port(None, 'Kafka')}",
        controller=f"{LOOPBACK}:{claim_port(None, 'Kafka')}",
    )


def _start(guardian: Guardian, node: _Node, logs: Path) -> ProcessPart:
    return ProcessPart(
        guardian,
        node.name,
        _command(guardian, node, "kafka.Kafka", str(node.properties)),
        address=node.advertised,
        ready=lambda life: _await(node, life),
        logs=logs,
    )


def _await(node: _Node, life: Life) -> None:
    """Each listener is bound by itself: the kit's may answer while the clients' has just lost its port to another."""
    await_kafka(node.kit, life, node=node.number)

    def clients_are_answered() -> bool:
        require_running(life)
        return answers(node.client)

    wait_until(
        clients_are_answered,
        what=f"{life.name} to answer clients at {node.client}",
        deadline=READY,
        hint=f"its log is {life.stderr}",
    )


def _format(guardian: Guardian, nodes: list[_Node], logs: Path) -> None:
    """Every node's data directory, by a Java process where none is kept of an earlier run."""
    jar_names = (f"{pin.coordinate} {pin.sha256}" for pin in read_pins(jars.KAFKA))
    cache = FormatCache([_CLUSTER_ID, properties_template(), *jar_names])
    formatted = cache.read()
    if formatted is None:
        formatted = _format_with_java(guardian, nodes[0], logs)
        cache.keep(formatted)
    cluster = new_id()
    for node in nodes:
        formatted.write(node.data, node.number, cluster)


def _format_with_java(guardian: Guardian, node: _Node, logs: Path) -> FormattedDirectory:
    command = _command(
        guardian, node, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(node.properties)
    )
    formatting = guardian.spawn("kafka-format", command, logs=logs)
    wait_until(lambda: formatting.exit_code is not None, what="Kafka's data directory to be formatted", deadline=READY)
    if formatting.exit_code != 0:
        raise StackError(f"Kafka's data directory could not be formatted: {formatting.last_words()}")
    return FormattedDirectory.of(node.data)


def _command(guardian: Guardian, node: _Node, main: str, *arguments: str) -> list[str]:
    log4j = node.directory / "log4j2.yaml"
    log4j.write_text(_LOG4J)
    return java_command(
        main,
        arguments,
        classpath=jars.ensure(jars.KAFKA),
        heap_bytes=_HEAP_BYTES,
        properties={"log4j2.configurationFile": str(log4j), "java.io.tmpdir": str(guardian.directory)},
    )
