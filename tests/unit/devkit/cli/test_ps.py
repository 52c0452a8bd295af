from pathlib import Path

import psutil
import pytest

from devkit.guardian.state import PartPlace
from tests.unit.devkit.cli.conftest import Devkit, Kept
from tests.unit.devkit.docker.fake_docker import FakeDocker


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    place = tmp_path / "fake-docker"
    place.mkdir()
    return FakeDocker(place)


def test_with_nothing_up(devkit: Devkit) -> None:
    finished = devkit("ps")
    assert (finished.code, finished.out) == (0, "no stack is up\n")


def test_processes(devkit: Devkit, kept: Kept) -> None:
    me = psutil.Process().pid
    parts = (
        PartPlace(name="kafka", address="127.0.0.1:1", pid=me),
        PartPlace(name="mock-api", address="http://127.0.0.1:2", pid=2**22 + 1),
    )
    kept().model_copy(update={"parts": parts}).save()
    finished = devkit("ps")
    assert finished.code == 3
    assert finished.out.splitlines() == [
        "stack cafe0001 (kept)",
        f"  {'kafka':<14} {f'process {me}':<24} {'running':<14} 127.0.0.1:1",
        f"  {'mock-api':<14} {f'process {2**22 + 1}':<24} {'ended':<14} http://127.0.0.1:2",
    ]


@pytest.mark.parametrize(("state", "code"), [("running, healthy", 0), ("exited, unhealthy", 3), ("paused", 3)])
def test_containers(devkit: Devkit, kept: Kept, fake: FakeDocker, state: str, code: int) -> None:
    access = fake.answer(("container inspect", 0, f"{state}\n", ""))
    part = PartPlace(name="kafka", address="127.0.0.1:1", container="0123456789abcdef")
    kept().model_copy(update={"parts": (part,), "docker": access}).save()
    finished = devkit("ps")
    assert finished.code == code
    assert f"container 0123456789ab   {state}" in finished.out


def test_an_engine_that_is_gone(devkit: Devkit, kept: Kept, fake: FakeDocker) -> None:
    access = fake.answer(("container", 1, "", "Cannot connect to the Docker daemon at unix:///fake.sock."))
    part = PartPlace(name="kafka", address="127.0.0.1:1", container="abc")
    kept().model_copy(update={"parts": (part,), "docker": access}).save()
    finished = devkit("ps")
    assert finished.code == 3
    assert "no Docker engine answers" in finished.out


def test_what_is_not_ours(devkit: Devkit, kept: Kept) -> None:
    kept().model_copy(update={"parts": (PartPlace(name="kafka", address="k:1"),)}).save()
    finished = devkit("ps")
    assert finished.code == 0
    assert finished.out.splitlines()[1].split() == ["kafka", "not", "ours", "theirs", "k:1"]
