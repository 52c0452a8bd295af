"""The compose stack: the parts of `docker-compose.yml`, on ports and under a project name of the run's own.

`docker compose` runs as a process of the run, so it dies with it; what it had begun carries the run's label, and the
guardian removes that.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from devkit.docker.access import RUN_LABEL, DockerAccess, EngineImage, find_docker
from devkit.docker.causes import ImageError, PortError, explain
from devkit.docker.command import docker
from devkit.docker.preflight import check_compose, check_engine
from devkit.errors import StackError
from devkit.guardian import Guardian
from devkit.stack import container_stack as parts
from devkit.stack.compose_file import (
    KAFKA,
    MOCK_API,
    OBJECT_STORE,
    REPOSITORY,
    SERVICES,
    SPARK,
    ComposeFile,
    compose_path,
    read_compose,
)
from devkit.stack.container_stack import Clients, ContainerPorts, container_stack, require_possible
from devkit.stack.front import Front
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.stack import NO_WISHES, Ports, Stack, StackRequest
from devkit.waiting import wait_until

_FETCHING = timedelta(minutes=15)
_STARTING = timedelta(minutes=2)
_PORT_RACES = 2
_PARTS = {
    KAFKA: parts.KAFKA,
    OBJECT_STORE: parts.OBJECT_STORE,
    MOCK_API: parts.MOCK_API,
    TRIPLE_STORE: TRIPLE_STORE,
}


def start_compose(guardian: Guardian, logs: Path, request: StackRequest = NO_WISHES) -> Stack:
    """Start the services and wait until each is ready. Raises StackError that names the cause."""
    require_possible("compose", request)
    path = compose_path()
    file = read_compose(path)
    services = (*SERVICES, *((TRIPLE_STORE,) if request.triple_store else ()))
    access = find_docker()
    in_container = (request.limits.memory if request.limits else None) or 0
    check_engine(access, needed_bytes=file.memory_bytes(services) + in_container)
    check_compose(access)
    guardian.use_docker(access)
    project = _Project(guardian, access, path, logs, services)
    project.fetch_images(file)
    if in_container:
        project.build_spark()
    front = Front(guardian, logs, request.proxied) if request.proxied else None
    asked_for_none = request.ports == Ports()
    for last in [False] * (_PORT_RACES if asked_for_none else 0) + [True]:
        ports = ContainerPorts.claim(request.ports)
        clients = Clients.of(ports, front, triple_store=request.triple_store)
        try:
            project.up(_variables(ports, clients))
        except PortError:
            # Another process took a port between the look and the use of it.
            if last:
                raise
            project.down()
        else:
            break
    stack = container_stack(guardian, access, logs, containers=project.containers(), clients=clients, front=front)
    return replace(stack, image=EngineImage(access, file.services[SPARK].image)) if in_container else stack


def _variables(ports: ContainerPorts, clients: Clients) -> dict[str, str]:
    """The ports under the file's names for them, and the one that Kafka advertises."""
    return {
        "KAFKA_PORT": str(ports.kafka),
        "KAFKA_ADVERTISED_PORT": clients.kafka.bootstrap.rpartition(":")[2],
        "KAFKA_KIT_PORT": str(ports.kit),
        "S3_PORT": str(ports.object_store),
        "MOCK_PORT": str(ports.mock_api),
        "TRIPLE_STORE_PORT": str(ports.triple_store),
    }


class _Project:
    """`docker compose` for one run, and these services."""

    def __init__(
        self, guardian: Guardian, access: DockerAccess, path: Path, logs: Path, services: Sequence[str]
    ) -> None:
        self._guardian, self._access, self._path, self._logs = guardian, access, path, logs
        self._services = services
        self._variables: Mapping[str, str] = {}

    def fetch_images(self, file: ComposeFile) -> None:
        """Pull what the engine does not have, and build the other images; both do little when they are there."""
        absent = [image for image in file.pulled_images(self._services) if not self._has(image)]
        for image in absent:
            try:
                self._run("pull", [self._access.command, "pull", image], f"pulling {image}", _FETCHING)
            except ImageError as error:
                raise ImageError(
                    f"image {image} is missing, and could not be pulled: {error}", hint=error.hint
                ) from error
        self._compose("build", ["build", MOCK_API], "building the mock API's image", _FETCHING)
        if TRIPLE_STORE in self._services:
            what = "building the triple store's image"
            self._compose("build-triple-store", ["build", TRIPLE_STORE], what, _FETCHING)

    def build_spark(self) -> None:
        """Takes minutes the first time."""
        self._compose("build-spark", ["build", SPARK], "building the image of Spark and the pipeline", _FETCHING)

    def up(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        arguments = ["up", "--detach", "--no-build", "--pull", "never", *self._services]
        self._compose("up", arguments, "starting the containers", _STARTING)

    def down(self) -> None:
        self._compose("down", ["down", "--volumes"], "removing the containers", _STARTING)

    def containers(self) -> dict[str, str]:
        """The services' containers, by the names of the parts."""
        listed = docker(
            self._access,
            [
                *("ps", "--all", "--no-trunc", "--filter", f"label={RUN_LABEL}={self._guardian.run_id}"),
                *("--format", '{{.Label "com.docker.compose.service"}} {{.ID}}'),
            ],
            what="asking for the run's containers",
        )
        containers = dict(line.split() for line in listed.splitlines())
        if absent := [service for service in self._services if service not in containers]:
            raise StackError(f"Compose started no container for {', '.join(absent)}")
        return {_PARTS[service]: containers[service] for service in self._services}

    def _has(self, image: str) -> bool:
        return bool(docker(self._access, ["image", "ls", "--quiet", image], what=f"asking for image {image}").strip())

    def _compose(self, step: str, arguments: Sequence[str], what: str, deadline: timedelta) -> None:
        place = ["--file", str(self._path), "--project-directory", str(REPOSITORY), "--progress", "plain"]
        name = ["--project-name", f"devkit-{self._guardian.run_id}"]
        self._run(step, [self._access.command, "compose", *place, *name, *arguments], what, deadline)

    def _run(self, step: str, argv: Sequence[str], what: str, deadline: timedelta) -> None:
        process = self._guardian.spawn(
            f"compose-{step}",
            argv,
            logs=self._logs,
            # A user's own profiles would add services, their project name would mix two runs.
            env={**self._access.environment, **self._variables, "DEVKIT_RUN_ID": self._guardian.run_id}
            | {"COMPOSE_PROFILES": "", "COMPOSE_FILE": "", "COMPOSE_PROJECT_NAME": ""},
        )
        wait_until(
            lambda: process.exit_code is not None, what=what, deadline=deadline, hint=f"its log is {process.stderr}"
        )
        if process.exit_code != 0:
            process.require_guardian()
            raise explain(what, process.stderr.read_text(errors="replace"))
