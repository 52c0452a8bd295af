import pytest

from devkit.docker.access import DockerAccess, find_docker
from devkit.errors import SetupError
from tests.unit.devkit.docker.fake_docker import FakeDocker


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
