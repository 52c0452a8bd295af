"""Kafka as programs and the kit find it, on every stack, and the configuration of the brokers that we run."""

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import PurePath
from string import Template

from kafka import KafkaAdminClient
from kafka.errors import KafkaError

from devkit.stack.parts.liveness import answers
from devkit.stack.parts.part_life import READY, Life, require_running
from devkit.waiting import wait_until


@dataclass(frozen=True)
class KafkaBroker:
    """One broker, or several that are one cluster.

    Programs under test begin at `bootstrap` and may be led through a proxy; the kit itself, which observes, makes
    topics and sends the traffic, begins at `direct` and never is.
    """

    bootstrap: str
    direct: str


def await_kafka(direct: str, life: Life, *, node: int = 1) -> None:
    """Wait until the broker with this id answers at its address, and is one of its cluster."""

    def is_in_cluster() -> bool:
        require_running(life)
        # For each connection that is refused, kafka-python logs errors and leaves a socket to the collector.
        if not answers(direct):
            return False
        try:
            admin = KafkaAdminClient(bootstrap_servers=direct, bootstrap_timeout_ms=500)
        except (KafkaError, OSError, ValueError):
            return False
        try:
            return any(broker["broker_id"] == node for broker in admin.describe_cluster()["brokers"])
        except KafkaError:
            return False
        finally:
            admin.close()

    wait_until(
        is_in_cluster,
        what=f"{life.name} to accept requests at {direct}",
        deadline=READY,
        hint=f"its log is {life.stderr}",
    )


def render_properties(
    *,
    listeners: str,
    advertised: str,
    controller: str,
    data: PurePath,
    inter_broker: str = "PLAINTEXT",
    node: int = 1,
    voters: Mapping[int, str] | None = None,
) -> str:
    """The configuration of one broker; every stack that starts one uses this template.

    `listeners` and `advertised` are lists as Kafka writes them, of PLAINTEXT (programs under test), KIT (the kit
    itself) and INTERNAL (clients in a network of containers); `inter_broker` is the one that brokers use among
    themselves. `voters` are the addresses of all controllers by node, where it is not the only one.
    """
    quorum = voters or {node: controller}
    return Template(properties_template()).substitute(
        listeners=listeners,
        advertised=advertised,
        controller=controller,
        data=data.as_posix(),
        inter_broker=inter_broker,
        node=node,
        voters=",".join(f"{number}@{address}" for number, address in quorum.items()),
        replicas=len(quorum),
        in_sync=min(2, len(quorum)),
    )


def properties_template() -> str:
    """The configuration before the addresses are filled in."""
    return resources.files(__package__).joinpath("server.properties").read_text()
