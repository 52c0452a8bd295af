"""The orders to an engine by which the data of a container is copied and restored."""

import subprocess
from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.stack.container_data import ContainerData

pytestmark = pytest.mark.starts_process("the orders to an engine are shell scripts")


class Engine:
    """Runs the script of the helper container in a directory of this machine."""

    def __init__(self, volume: Path) -> None:
        self.volume, self.image = volume, "sha256:1"
        self.helpers: list[list[str]] = []

    def order(self, words: list[str]) -> str:
        if words[:2] == ["container", "inspect"]:
            assert words[-1] == "abc"
            return f"{self.image}\n"
        self.helpers.append(words[:-1])
        command = ["sh", *words[-2:]]
        return subprocess.run(command, cwd=self.volume, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    (tmp_path / "data").mkdir()
    return Engine(tmp_path)


def data_of(engine: Engine) -> ContainerData:
    return ContainerData("triple-store", "abc", "/store", engine.order, run_id="cafe")


def test_the_copy_takes_the_place_of_the_data(engine: Engine) -> None:
    data, volume = data_of(engine), engine.volume
    (volume / "data" / "old").touch()
    data.copy()
    data.copy()
    (volume / "data" / "new").touch()
    data.restore()
    data.restore()
    assert sorted(path.name for path in volume.rglob("*")) == ["copy", "data", "old", "old"]


def test_the_helper_is_the_runs_own_and_goes(engine: Engine) -> None:
    data_of(engine).copy()
    assert engine.helpers == [
        [
            *("container", "run", "--rm", "--label", "enrichment-devkit.run=cafe", "--volumes-from", "abc"),
            *("--workdir", "/store", "--entrypoint", "sh", "sha256:1", "-ec"),
        ]
    ]


def test_without_a_copy_nothing_is_restored(engine: Engine) -> None:
    with pytest.raises(StackError, match=r"^triple-store cannot be restored"):
        data_of(engine).restore()
    assert (engine.volume / "data").is_dir()


def test_an_engine_that_does_not_know_the_image(engine: Engine) -> None:
    engine.image = ""
    with pytest.raises(StackError, match="does not know the image"):
        data_of(engine).copy()
