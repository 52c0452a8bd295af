from datetime import timedelta

import pytest

from devkit.docker.access import DockerAccess
from devkit.docker.causes import EngineError
from devkit.docker.command import docker
from devkit.errors import StackError
from tests.unit.devkit.docker.fake_docker import FakeDocker


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
