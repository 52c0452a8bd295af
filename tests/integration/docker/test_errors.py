"""What goes wrong with containers is named with its cause, exits with 3, and leaves nothing behind.

The texts of docker, Compose and the engine are the real ones here.
"""

import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devkit.docker.causes import ImageError
from devkit.guardian import Guardian
from devkit.guardian.run_state import known_runs
from devkit.stack import compose, container_stack
from devkit.stack.compose_file import compose_path
from devkit.stack.ports import claim_port
from tests.integration.cli_run import CliRun
from tests.integration.docker.conftest import Docker
from tests.integration.docker.engine import TestEngine
from tests.integration.docker.engine_proxy import EngineProxy
from tests.integration.docker.test_compose import assert_nothing_is_left, of_run

ROOMS = ("devkit/docker", "devkit/stack")
Cli = Callable[..., CliRun]


@pytest.mark.parametrize("stack", ["compose", "testcontainers"])
@pytest.mark.parametrize(
    ("environment", "cause", "remedy"),
    [
        ({"PATH": "/nowhere"}, "there is no `docker` command on PATH", "install Docker"),
        ({"DOCKER_HOST": "unix:///nowhere/docker.sock"}, "no Docker engine answers", "start it"),
    ],
)
def test_without_docker(
    devkit_cli: Cli, docker_engine: TestEngine, stack: str, environment: dict[str, str], cause: str, remedy: str
) -> None:
    before = known_runs()
    run = devkit_cli("up", "--stack", stack, "--no-pipeline", env=environment)
    assert run.wait(60) == 3
    assert cause in run.output()
    assert f"hint: {remedy}" in run.output()
    assert known_runs() == before


@pytest.mark.slow
def test_a_port_that_is_taken(devkit_cli: Cli, docker_engine: TestEngine) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        run = devkit_cli("up", "--stack", "compose", "--no-pipeline", "--mock-port", str(port))
        assert run.wait(120) == 3
    assert f"port {port} for the mock API cannot be used" in run.output()


@pytest.mark.slow
def test_a_port_that_is_lost_in_a_race_is_replaced(
    docker_engine: TestEngine, docker: Docker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with socket.socket() as other, Guardian() as guardian:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        ports: list[int] = []

        def claim(wanted: int | None, part: str) -> int:
            ports.append(taken if not ports else claim_port(wanted, part))
            return ports[-1]

        monkeypatch.setattr(container_stack, "claim_port", claim)
        stack = compose.start_compose(guardian, tmp_path)
        stack.require_running()
        assert len(ports) == 8, "four ports, twice"
        assert stack.kafka.bootstrap != f"127.0.0.1:{taken}"
    assert of_run(docker, guardian.run_id) == []


@pytest.mark.slow
def test_an_image_that_cannot_be_had_is_named(
    docker_engine: TestEngine, docker: Docker, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "docker-compose.yml"
    image = "registry.invalid/apache/kafka:0"
    file.write_text(compose_path().read_text().replace("image: apache/kafka:", f"image: {image} #"))
    monkeypatch.setattr(compose, "compose_path", lambda: file)
    with Guardian() as guardian, pytest.raises(ImageError, match=f"image {image} is missing, and could not be pulled"):
        compose.start_compose(guardian, tmp_path)
    assert of_run(docker, guardian.run_id) == []


@pytest.fixture
def proxy(docker_engine: TestEngine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[EngineProxy]:
    made = EngineProxy(tmp_path_factory.mktemp("p") / "s")
    made.open()
    yield made
    made.close()


@pytest.mark.slow
def test_an_engine_that_dies_midway(devkit_cli: Cli, docker: Docker, proxy: EngineProxy) -> None:
    """Its containers cannot be removed then, which is said; `heal` does it when the engine is back."""
    run = devkit_cli("scenario", "run", "oversized-message", "--stack", "compose", env={"DOCKER_HOST": proxy.address})
    run_id = run.run_id()
    run.await_event("process_started")

    proxy.close()

    assert run.wait(120) == 3
    assert "the Docker engine ended, and" in run.output()
    assert "containers are left" in run.output()
    assert [one.run_id for one in known_runs() if one.run_id == run_id]
    proxy.open()
    assert of_run(docker, run_id)
    healed = devkit_cli("heal", out=False)
    assert healed.wait(120) == 0, healed.output()
    assert_nothing_is_left(docker, run, run_id)
