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
from devkit.stack.compose_file import MINIO, REPOSITORY, kafka_image
from devkit.stack.container_stack import (
    KAFKA,
    MOCK_API,
    OBJECT_STORE,
    Clients,
    ContainerPorts,
    container_stack,
    require_possible,
)
from devkit.stack.front import Front
from devkit.stack.parts.kafka import KafkaBroker, render_properties
from devkit.stack.parts.object_store import ACCESS_KEY, SECRET_KEY
from devkit.stack.ports import LOOPBACK
from devkit.stack.stack import NO_WISHES, Stack, StackRequest
from devkit.waiting import wait_until

_MOCK_IMAGE = "enrichment-devkit/mock-api"
_MIB = 1024 * 1024
_LIMIT_BYTES = 1024 * _MIB
_BUILDING = timedelta(minutes=15)
# Where a request to a published port comes from, as the container sees it.
_PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")


def start_testcontainers(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start the containers and wait until each is ready. Raises StackError that names the cause."""
    require_possible("testcontainers", request)
    if request.triple_store:
        raise UsageError("the testcontainers stack has no triple store", hint="use `--stack embedded` or `compose`")
    access = find_docker()
    check_engine(access, needed_bytes=3 * _LIMIT_BYTES)
    guardian.use_docker(access)
    _build_mock(guardian, access, logs)
    testcontainers_config.ryuk_disabled = True
    ports = ContainerPorts.claim(request.ports)
    front = Front(guardian, logs, request.proxied) if request.proxied else None
    clients = Clients.of(ports, front)
    make = _Maker(guardian.run_id)
    containers = {
        OBJECT_STORE: make.minio(ports.object_store),
        MOCK_API: make.mock_api(ports.mock_api),
        KAFKA: make.kafka(ports, clients.kafka),
    }
    return container_stack(guardian, access, logs, containers=containers, clients=clients, front=front)


def _build_mock(guardian: Guardian, access: DockerAccess, logs: Path) -> None:
    if not (REPOSITORY / "Dockerfile").is_file():
        raise UsageError(
            f"the mock API's image is built from a checkout of the kit, and {REPOSITORY} is none",
            hint="run the kit from a checkout (./justw up), or use the embedded stack",
        )
    argv = [access.command, "build", "--target", "mock-api", "--tag", _MOCK_IMAGE, str(REPOSITORY)]
    build = guardian.spawn("mock-api-image", argv, logs=logs, env=access.environment)
    wait_until(lambda: build.exit_code is not None, what="the mock API's image to be built", deadline=_BUILDING)
    if build.exit_code != 0:
        build.require_guardian()
        raise explain("building the mock API's image", build.stderr.read_text(errors="replace"))


class _Maker:
    """Makes the containers of one run, and returns their ids."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id

    def kafka(self, ports: ContainerPorts, clients: KafkaBroker) -> str:
        properties = render_properties(
            listeners="PLAINTEXT://0.0.0.0:9092,KIT://0.0.0.0:9094,INTERNAL://127.0.0.1:19092",
            advertised=f"PLAINTEXT://{clients.bootstrap},KIT://{clients.direct},INTERNAL://127.0.0.1:19092",
            controller="127.0.0.1:9093",
            data=PurePosixPath("/var/lib/kafka/data"),
            inter_broker="INTERNAL",
        )
        start = 'printf %s "$PROPERTIES" > /mnt/shared/config/server.properties && exec /etc/kafka/docker/run'
        environment = {
            "PROPERTIES": properties,
            "KAFKA_HEAP_OPTS": "-Xmx512m",
            "KAFKA_LOG4J_ROOT_LOGLEVEL": "WARN",
        }
        return self._start(
            KAFKA, kafka_image(), ["bash", "-c", start], {9092: ports.kafka, 9094: ports.kit}, environment
        )

    def minio(self, port: int) -> str:
        environment = {"MINIO_ROOT_USER": ACCESS_KEY, "MINIO_ROOT_PASSWORD": SECRET_KEY}
        return self._start(OBJECT_STORE, MINIO, ["server", "/data", "--quiet"], {9000: port}, environment)

    def mock_api(self, port: int) -> str:
        control = [word for network in _PRIVATE for word in ("--allow-control", network)]
        arguments = ["--host", "0.0.0.0", "--port", "8080", *control]
        return self._start(MOCK_API, _MOCK_IMAGE, arguments, {8080: port}, {})

    def _start(
        self, name: str, image: str, command: list[str], ports: Mapping[int, int], environment: dict[str, str]
    ) -> str:
        try:
            container = (
                DockerContainer(image, name=f"devkit-{self._run_id}-{name}", env=environment)
                .with_command(command)
                .with_kwargs(labels={RUN_LABEL: self._run_id}, mem_limit=_LIMIT_BYTES, init=True)
            )
            for inside, outside in ports.items():
                # Docker's client takes an address with the port; the wrapper's own type knows only the port.
                container.ports[f"{inside}/tcp"] = (LOOPBACK, outside)  # type: ignore[assignment]
            container.start()
        except (docker.errors.DockerException, requests.RequestException) as error:
            raise explain(f"starting {name}", str(error)) from error
        return str(container.get_container_id())
