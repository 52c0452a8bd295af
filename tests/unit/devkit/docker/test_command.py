import json
from collections.abc import Sequence
from datetime import timedelta

import pytest

from devkit.docker.access import DockerAccess, find_docker
from devkit.docker.causes import EngineError
from devkit.docker.command import docker
from devkit.docker.preflight import Ask, Engine, check_compose, check_engine
from devkit.errors import DevkitError, SetupError, StackError
from tests.unit.devkit.docker.fake_docker import FakeDocker

pytestmark = pytest.mark.starts_process("the docker command is a script that gives the answers")


def test_what_it_prints_comes_back(fake: FakeDocker) -> None:
    access = fake.answer(("ps", 0, "abc\n", "a warning"))
    assert docker(access, ["ps", "-q"], what="looking") == "abc\n"
    assert fake.asked() == [["unix:///fake.sock", "ps", "-q"]]


def test_a_failure_is_explained(fake: FakeDocker) -> None:
    access = fake.answer(("ps", 1, "", "Cannot connect to the Docker daemon at unix:///fake.sock."))
    with pytest.raises(EngineError, match=r"^looking: no Docker engine answers"):
        docker(access, ["ps"], what="looking")


def test_an_engine_that_hangs_is_not_waited_for() -> None:
    with pytest.raises(EngineError, match=r"did not answer within 0.05 s"):
        docker(DockerAccess(command="sleep"), ["600"], what="looking", deadline=timedelta(milliseconds=50))


def test_a_command_that_is_gone() -> None:
    with pytest.raises(StackError, match="/nowhere/docker cannot be run: No such file"):
        docker(DockerAccess(command="/nowhere/docker"), ["ps"], what="looking")


def test_the_command_on_path_and_the_engine_of_the_environment(fake: FakeDocker) -> None:
    fake.answer()
    environment = {"PATH": str(fake.place), "DOCKER_HOST": "ssh://there", "DOCKER_CONTEXT": "x", "HOME": "/h"}
    assert find_docker(environment) == DockerAccess(
        command=str(fake.place / "docker"), environment={"DOCKER_HOST": "ssh://there", "DOCKER_CONTEXT": "x"}
    )


def test_without_the_command_there_is_a_way_out() -> None:
    with pytest.raises(SetupError, match="no `docker` command on PATH") as caught:
        find_docker({"PATH": "/nowhere"})
    assert caught.value.exit_code == 3
    assert "--stack embedded" in (caught.value.hint or "")


def test_another_engine_of_the_present_shell_is_not_asked() -> None:
    """Who heals a run may have set up another engine than who started it."""
    access = DockerAccess(command="docker", environment={"DOCKER_HOST": "unix:///a"})
    here = {"DOCKER_HOST": "unix:///b", "DOCKER_CONTEXT": "other", "HOME": "/h"}
    assert access.environ(here) == {"DOCKER_HOST": "unix:///a", "HOME": "/h"}


NOBODY = DockerAccess(command="/nowhere/docker")
GIB = 1024**3


def says(text: str) -> Ask:
    def ask(_arguments: Sequence[str], _what: str) -> str:
        return text

    return ask


def engine(version: str = "28.2.2", memory_bytes: int = 4 * GIB, **more: object) -> Ask:
    return says(json.dumps({"ServerVersion": version, "MemTotal": memory_bytes, **more}))


def test_an_engine_that_will_do() -> None:
    assert check_engine(NOBODY, needed_bytes=3 * GIB, ask=engine()) == Engine("28.2.2", 4 * GIB)


@pytest.mark.parametrize("answer", ["", "no json", "{}", '{"ServerVersion": "", "MemTotal": 0}'])
def test_no_engine(answer: str) -> None:
    with pytest.raises(EngineError, match="no Docker engine answers"):
        check_engine(NOBODY, ask=says(answer))


def test_what_the_command_says_of_the_missing_engine_is_passed_on() -> None:
    with pytest.raises(EngineError, match="no Docker engine answers: Cannot connect to it"):
        check_engine(NOBODY, ask=engine("", ServerErrors=["Cannot connect to it"]))


def test_an_old_engine() -> None:
    with pytest.raises(SetupError, match=r"Docker engine 19\.03\.5 is too old, 20\.10 is needed"):
        check_engine(NOBODY, ask=engine("19.03.5"))


def test_too_little_memory_for_the_limits() -> None:
    with pytest.raises(StackError, match="has 2048 MiB of memory, the containers may use 3072 MiB") as caught:
        check_engine(NOBODY, needed_bytes=3 * GIB, ask=engine(memory_bytes=2 * GIB))
    assert "--stack embedded" in (caught.value.hint or "")


@pytest.mark.parametrize("version", ["2.20.0", "v2.40.3", "2.40.3-desktop.1", "5.0.0"])
def test_compose_that_will_do(version: str) -> None:
    assert check_compose(NOBODY, ask=says(f"{version}\n")) == version


@pytest.mark.parametrize("version", ["1.29.2", "2.19.9", "v2.6.0", "dev"])
def test_compose_that_is_too_old(version: str) -> None:
    with pytest.raises(SetupError, match=f"Docker Compose {version} is too old, 2.20 is needed"):
        check_compose(NOBODY, ask=says(version))


def test_compose_that_is_missing(fake: FakeDocker) -> None:
    access = fake.answer(("compose", 125, "", "unknown flag: --short\n\nUsage:  docker [OPTIONS] COMMAND [ARG...]"))
    with pytest.raises(DevkitError, match="the docker command has no `compose`") as caught:
        check_compose(access)
    assert caught.value.exit_code == 3
    assert "docker-compose-plugin" in (caught.value.hint or "")
