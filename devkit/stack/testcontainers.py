"""The testcontainers stack: a container each, made through testcontainers-python, for integration suites.

Its sidecar that removes containers (`ryuk`) is turned off: the run's guardian does the same by the run's label, and
needs no image for it. Kafka gets its configuration from the template of all stacks.
"""

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path, PurePosixPath

import docker.errors
import requests
from testcontainers.core.config import testcontainers_config
from testcontainers.core.container import DockerContainer

from devkit.docker.access import RUN_LABEL, DockerAccess, find_docker
from devkit.docker.causes import explain
from devkit.docker.preflight import check_engine
from devkit.errors import UsageError
from devkit.guardian import Guardian
from devkit.stack.compose_file import REPOSITORY
from devkit.stack.container import ContainerLife, follow
from devkit.stack.images import MINIO, kafka_image
from devkit.stack.parts.kafka import KafkaBroker, await_kafka, render_properties
from devkit.stack.parts.mock_api import MockApi, await_answer
from devkit.stack.parts.object_store import ACCESS_KEY, SECRET_KEY, ObjectStore, await_object_store
from devkit.stack.ports import LOOPBACK, claim_port
from devkit.stack.stack import BUCKETS, NO_WISHES, Stack, StackRequest
from devkit.waiting import wait_until

_MOCK_IMAGE = "enrichment-devkit/mock-api"
_MIB = 1024 * 1024
_LIMIT_BYTES = 1024 * _MIB
_BUILDING = timedelta(minutes=15)
# Where a request to a published port comes from, as the container sees it.
_PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")


def start_testcontainers(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start the containers and wait until each is ready. Raises StackError that names the cause."""
    access = find_docker()
    check_engine(access, needed_bytes=3 * _LIMIT_BYTES)
    guardian.use_docker(access)
    _build_mock(guardian, access, logs)
    testcontainers_config.ryuk_disabled = True
    ports = request.ports
    kafka_port = claim_port(ports.kafka, "Kafka")
    store_port = claim_port(ports.object_store, "the object store")
    mock_port = claim_port(ports.mock_api, "the mock API")
    make = _Maker(guardian, access, logs)
    store = ObjectStore(f"http://{LOOPBACK}:{store_port}", make.minio(store_port), "minio")
    mock = MockApi(make.mock_api(mock_port), f"http://{LOOPBACK}:{mock_port}")
    kafka = KafkaBroker(f"{LOOPBACK}:{kafka_port}", make.kafka(kafka_port))
    await_object_store(store, BUCKETS)
    await_answer(mock)
    await_kafka(kafka)
    return Stack(kafka, store, mock)


def _build_mock(guardian: Guardian, access: DockerAccess, logs: Path) -> None:
    if not (REPOSITORY / "Dockerfile").is_file():
        raise UsageError(
            f"the mock API's image is built from a checkout of the kit, and {REPOSITORY} is none",
            hint="install the kit from its checkout (pip install --editable), or use the embedded stack",
        )
    argv = [access.command, "build", "--target", "mock-api", "--tag", _MOCK_IMAGE, str(REPOSITORY)]
    build = guardian.spawn("mock-api-image", argv, logs=logs, env=access.environment)
    wait_until(lambda: build.exit_code is not None, what="the mock API's image to be built", deadline=_BUILDING)
    if build.exit_code != 0:
        build.require_guardian()
        raise explain("building the mock API's image", build.stderr.read_text(errors="replace"))


class _Maker:
    """Makes the containers of one run."""

    def __init__(self, guardian: Guardian, access: DockerAccess, logs: Path) -> None:
        self._guardian, self._access, self._logs = guardian, access, logs

    def kafka(self, port: int) -> ContainerLife:
        properties = render_properties(
            listeners="PLAINTEXT://0.0.0.0:9092",
            advertised=f"PLAINTEXT://{LOOPBACK}:{port}",
            controller="127.0.0.1:9093",
            data=PurePosixPath("/var/lib/kafka/data"),
        )
        start = 'printf %s "$PROPERTIES" > /mnt/shared/config/server.properties && exec /etc/kafka/docker/run'
        environment = {
            "PROPERTIES": properties,
            "KAFKA_HEAP_OPTS": "-Xmx512m",
            "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN",
        }
        return self._start("kafka", kafka_image(), ["bash", "-c", start], {9092: port}, environment)

    def minio(self, port: int) -> ContainerLife:
        environment = {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY}
        return self._start("object-store", MINIO, ["server", "/data", "--quiet"], {9000: port}, environment)

    def mock_api(self, port: int) -> ContainerLife:
        control = [word for network in _PRIVATE for word in ("--allow-control", network)]
        arguments = ["--host", "0.0.0.0", "--port", "8080", *control]
        return self._start("mock-api", _MOCK_IMAGE, arguments, {8080: port}, {})

    def _start(
        self, name: str, image: str, command: list[str], ports: Mapping[int, int], environment: dict[str, str]
    ) -> ContainerLife:
        try:
            container = (
                DockerContainer(image, name=f"devkit-{self._guardian.run_id}-{name}", env=environment)
                .with_command(command)
                .with_kwargs(labels={RUN_LABEL: self._guardian.run_id}, mem_limit=_LIMIT_BYTES, init=True)
            )
            for inside, outside in ports.items():
                # Docker's client takes an address with the port; the wrapper's own type knows only the port.
                container.ports[f"{inside}/tcp"] = (LOOPBACK, outside)  # type: ignore[assignment]
            container.start()
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise explain(f"starting {name}", str(error)) from error
        return follow(self._guardian, self._access, name, container.get_container_id(), self._logs)
