"""A stack of containers that have been started, whoever started them."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path

from devkit.docker.access import DockerAccess
from devkit.guardian import Guardian
from devkit.stack.container_part import container_part
from devkit.stack.parts.kafka import KafkaBroker, await_kafka
from devkit.stack.parts.mock_api import MockApi, await_answer
from devkit.stack.parts.object_store import ObjectStore, await_object_store
from devkit.stack.ports import LOOPBACK
from devkit.stack.stack import BUCKETS, Stack, by_name

KAFKA, OBJECT_STORE, MOCK_API = "kafka", "object-store", "mock-api"


def container_stack(
    guardian: Guardian, access: DockerAccess, logs: Path, *, containers: Mapping[str, str], ports: Mapping[str, int]
) -> Stack:
    """Wait until each part is ready; `containers` and published `ports` by the parts' names. Raises StackError."""
    kafka = KafkaBroker(f"{LOOPBACK}:{ports[KAFKA]}")
    store = ObjectStore(f"http://{LOOPBACK}:{ports[OBJECT_STORE]}", "minio")
    mock = MockApi(f"http://{LOOPBACK}:{ports[MOCK_API]}")
    part = partial(container_part, guardian, access, logs=logs)
    parts = (
        part(KAFKA, containers[KAFKA], address=kafka.bootstrap, ready=lambda life: await_kafka(kafka, life)),
        part(
            OBJECT_STORE,
            containers[OBJECT_STORE],
            address=store.endpoint,
            ready=lambda life: await_object_store(store, life, BUCKETS),
        ),
        part(
            MOCK_API,
            containers[MOCK_API],
            address=mock.endpoint,
            ready=lambda life: await_answer(mock, life),
            restore=mock.populate_again,
        ),
    )
    for one in parts:
        one.await_ready()
    return Stack(kafka, store, mock, by_name(*parts))
