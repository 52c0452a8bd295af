from pathlib import Path

import pytest

from tests.unit.devkit.docker.fake_docker import FakeDocker


@pytest.fixture
def fake(tmp_path: Path) -> FakeDocker:
    place = tmp_path / "fake-docker"
    place.mkdir()
    return FakeDocker(place)
