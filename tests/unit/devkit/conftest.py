from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devkit.scenario.load import load_scenario
from devkit.scenario.model import Scenario
from tests.unit.devkit.play.arm.stage import Stage, set_up

TEXT = (Path(__file__).parent / "scenario" / "incident.yaml").read_text()

Edited = Callable[..., str]
Load = Callable[..., Scenario]


@pytest.fixture
def text() -> str:
    """A valid scenario file."""
    return TEXT


@pytest.fixture
def edited() -> Edited:
    """The file's text with pieces replaced, each of which must stand in it."""

    def edit(*changes: tuple[str, str]) -> str:
        changed = TEXT
        for before, after in changes:
            assert before in changed, before
            changed = changed.replace(before, after, 1)
        return changed

    return edit


@pytest.fixture
def load(edited: Edited, tmp_path: Path) -> Load:
    """The scenario with its text changed."""

    def load(*changes: tuple[str, str]) -> Scenario:
        path = tmp_path / "scenario.yaml"
        path.write_text(edited(*changes))
        return load_scenario(path)

    return load


@pytest.fixture
def scenario(tmp_path: Path) -> Scenario:
    path = tmp_path / "an-incident.yaml"
    path.write_text(TEXT)
    return load_scenario(path)


@pytest.fixture
def stage(scenario: Scenario, tmp_path: Path) -> Iterator[Stage]:
    """The scenario's incident arm on a stack of values."""
    with set_up(scenario, tmp_path) as stage:
        yield stage
