"""Kafka as processes of the run: KRaft nodes on the bundled Java runtime, each a broker and a controller.

All of three are controllers too, so that each can die without the others losing their leader's election.
"""

import shutil
import tempfile
import uuid
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.jvm import jars
from devkit.jvm.runtime import java_command
from devkit.stack.parts.answering import answers
from devkit.stack.parts.kafka import READY, KafkaBroker, await_kafka, render_properties
from devkit.stack.parts.lead import Lead, straight
from devkit.stack.parts.process import ProcessPart
from devkit.stack.parts.running import Life, require_running
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.waiting import wait_until

_HEAP_BYTES = 512 * 1024 * 1024
# Any id of the right form does: no other broker knows it.
_CLUSTER_ID = "ZGV2a2l0LWxvY2FsLWthZg"
_FORMATTED = timedelta(seconds=60)
_META = "meta.properties"
_LOG4J = """\
Configuration:
  Appenders:
    Console: {name: out, PatternLayout: {pattern: "[%d] %p %m (%c)%n"}}
  Loggers:
    Root: {level: WARN, AppenderRef: [{ref: out}]}
"""


@dataclass(frozen=True)
class _Node:
    """`client`, `kit` and `controller` are the addresses of its listeners; `told` that under which clients find it."""

    number: int
    name: str
    directory: Path
    client: str
    told: str
    kit: str
    controller: str

    @property
    def data(self) -> Path:
        return self.directory / "data"

    @property
    def properties(self) -> Path:
        return self.directory / "server.properties"


def start_kafka(
    guardian: Guardian, logs: Path, *, port: int | None = None, brokers: int = 1, lead: Lead = straight
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
                advertised=f"PLAINTEXT://{node.told},KIT://{node.kit}",
                controller=node.controller,
                data=node.data,
                inter_broker="KIT",
                node=node.number,
                voters=voters,
            )
        )
    _format(guardian, nodes, logs)
    broker = KafkaBroker(",".join(node.told for node in nodes), ",".join(node.kit for node in nodes))
    return broker, tuple(_start(guardian, node, logs) for node in nodes)


def _node(guardian: Guardian, number: int, name: str, port: int | None, lead: Lead) -> _Node:
    client = f"{LOOPBACK}:{claim_port(port, 'Kafka')}"
    return _Node(
        number,
        name,
        directory=Path(tempfile.mkdtemp(prefix="kafka-", dir=guardian.directory)),
        client=client,
        told=lead(name, client),
        kit=f"{LOOPBACK}:{claim_port(None, 'Kafka')}",
        controller=f"{LOOPBACK}:{claim_port(None, 'Kafka')}",
    )


def _start(guardian: Guardian, node: _Node, logs: Path) -> ProcessPart:
    return ProcessPart(
        guardian,
        node.name,
        _command(guardian, node, "kafka.Kafka", str(node.properties)),
        address=node.told,
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
    """Format the first node's directory, which takes a Java process; the others' are the same but for their ids."""
    first, *others = nodes
    command = _command(
        guardian, first, "kafka.tools.StorageTool", "format", "-t", _CLUSTER_ID, "-c", str(first.properties)
    )
    formatting = guardian.spawn("kafka-format", command, logs=logs)
    wait_until(
        lambda: formatting.exit_code is not None, what="Kafka's data directory to be formatted", deadline=_FORMATTED
    )
    if formatting.exit_code != 0:
        raise StackError(f"Kafka's data directory could not be formatted: {formatting.last_words()}")
    for node in others:
        shutil.copytree(first.data, node.data)
        own = {"node.id": str(node.number), "directory.id": _new_id()}
        pairs = [line.partition("=") for line in (first.data / _META).read_text().splitlines()]
        (node.data / _META).write_text("".join(f"{key}{is_}{own.get(key, value)}\n" for key, is_, value in pairs))


def _new_id() -> str:
    """As Kafka writes them."""
    return urlsafe_b64encode(uuid.uuid4().bytes).rstrip(b"=").decode()


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
