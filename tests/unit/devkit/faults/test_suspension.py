from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.faults.suspension import resume_container
from tests.unit.devkit.docker.fake_docker import FakeDocker

pytestmark = pytest.mark.starts_process("the docker command is a script that gives the answers")


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    return FakeDocker(tmp_path)


def orders(fake: FakeDocker) -> list[str]:
    return [words[2] for words in fake.asked()]


@pytest.mark.parametrize("state", ["running\n", "exited\n", ""])
def test_one_that_is_not_paused_or_not_there_is_left_alone(fake: FakeDocker, state: str) -> None:
    resume_container(fake.answer(("ls --all id=c1", 0, state, "")), "c1")
    assert orders(fake) == ["ls"]


def test_one_that_is_paused_goes_on(fake: FakeDocker) -> None:
    resume_container(fake.answer(("ls --all id=c1", 0, "paused\n", "")), "c1")
    assert fake.asked()[-1][1:] == ["container", "unpause", "c1"]


def test_one_that_stands_still_all_the_same_is_an_error(fake: FakeDocker) -> None:
    access = fake.answer(("ls --all id=c1", 0, "paused\n", ""), ("unpause", 1, "", "no"))
    with pytest.raises(StackError, match="resuming a container"):
        resume_container(access, "c1")
    assert orders(fake) == ["ls", "unpause", "ls"]
