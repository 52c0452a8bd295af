"""A stack of containers, for all that start them: where its parts are to be found, and when they are ready."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from devkit.docker.access import DockerAccess
from devkit.errors import UsageError
from devkit.guardian import Guardian
from devkit.stack.container_part import container_part
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker, await_kafka
from devkit.stack.parts.mock_api import MockApi, await_answer
from devkit.stack.parts.object_store import ObjectStore, await_object_store
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.parts.triple_store import TripleStore, await_triple_store
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.stack.stack import BUCKETS, Ports, Stack, StackRequest, by_name

KAFKA, OBJECT_STORE, MOCK_API = "kafka", "object-store", "mock-api"
TRIPLE_STORE_VOLUME = "/store"
"""Where the triple store's container has its data."""


@dataclass(frozen=True)
class ContainerPorts:
    """The loopback ports that the containers publish; `kit` is the broker's for the kit itself."""

    kafka: int
    kit: int
    object_store: int
    mock_api: int
    triple_store: int

    @classmethod
    def claim(cls, wanted: Ports) -> "ContainerPorts":
        """Free ones where none is wanted. Raises StackError for one that is taken."""
        return cls(
            claim_port(wanted.kafka, "Kafka"),
            claim_port(None, "Kafka"),
            claim_port(wanted.object_store, "the object store"),
            claim_port(wanted.mock_api, "the mock API"),
            claim_port(wanted.triple_store, "the triple store"),
        )


@dataclass(frozen=True)
class Clients:
    """Clients of parts that are not started yet: a broker has to know its advertised address beforehand.

    `triple_store` is None unless one was asked for.
    """

    kafka: KafkaBroker
    object_store: ObjectStore
    mock_api: MockApi
    triple_store: TripleStore | None = None

    @classmethod
    def of(cls, ports: ContainerPorts, front: Front | None, *, triple_store: bool = False) -> "Clients":
        """Programs are led through the proxy where `front` stands before a part; the kit goes past it."""
        kafka, store, mock, triples = (
            f"{LOOPBACK}:{port}" for port in (ports.kafka, ports.object_store, ports.mock_api, ports.triple_store)
        )
        return cls(
            KafkaBroker(front.lead(KAFKA, kafka) if front else kafka, f"{LOOPBACK}:{ports.kit}"),
            ObjectStore(
                f"http://{front.lead_requests(OBJECT_STORE, store) if front else store}", f"http://{store}", "minio"
            ),
            MockApi(f"http://{front.lead(MOCK_API, mock) if front else mock}", f"http://{mock}"),
            TripleStore.at(front.lead(TRIPLE_STORE, triples) if front else triples, triples) if triple_store else None,
        )


def require_possible(backend: str, request: StackRequest) -> None:
    """Raises UsageError for what a stack of containers does not have."""
    if request.brokers > 1:
        raise UsageError(
            f"the {backend} stack has one Kafka broker, and {request.brokers} are asked for",
            hint="use `--stack embedded`, or leave `kafka.brokers` out",
        )


def container_stack(
    guardian: Guardian,
    access: DockerAccess,
    logs: Path,
    *,
    containers: Mapping[str, str],
    clients: Clients,
    front: Front | None,
) -> Stack:
    """Wait until each part is ready; `containers` by the parts' names. Raises StackError."""
    kafka, store, mock, triples = clients.kafka, clients.object_store, clients.mock_api, clients.triple_store
    make_part = partial(container_part, guardian, access, logs=logs)
    parts = [
        make_part(
            KAFKA, containers[KAFKA], address=kafka.bootstrap, ready=lambda life: await_kafka(kafka.direct, life)
        ),
        make_part(
            OBJECT_STORE,
            containers[OBJECT_STORE],
            address=store.endpoint,
            ready=lambda life: await_object_store(store, life, BUCKETS),
        ),
        make_part(
            MOCK_API,
            containers[MOCK_API],
            address=mock.endpoint,
            ready=lambda life: await_answer(mock, life),
            restore=mock.populate_again,
        ),
    ]
    if triples is not None:
        parts.append(
            make_part(
                TRIPLE_STORE,
                containers[TRIPLE_STORE],
                address=triples.query.removesuffix("/query"),
                ready=lambda life: await_triple_store(triples, life),
                data=TRIPLE_STORE_VOLUME,
            )
        )
    for part in parts:
        part.await_ready()
    named = by_name(*parts, *([front.part] if front else ()))
    return Stack(kafka, store, mock, named, front.control if front else None, triple_store=triples)
