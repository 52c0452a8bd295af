import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import psutil
import pytest

from devkit.cli.main import main
from devkit.guardian.run_state import CHECKOUT, RunState
from tests.unit.signal_handlers import restored_handlers


@dataclass(frozen=True)
class Finished:
    """What a command line left: its exit code and what it printed."""

    code: int
    out: str
    err: str


Devkit = Callable[..., Finished]


@pytest.fixture
def devkit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Devkit]:
    """Run the console script in this process."""

    def run(*arguments: str) -> Finished:
        monkeypatch.setattr(sys, "argv", ["devkit", *arguments])
        with mock.patch.dict(os.environ), pytest.raises(SystemExit) as ended:
            main()
        printed = capsys.readouterr()
        assert isinstance(ended.value.code, int)
        return Finished(ended.value.code, printed.out, printed.err)

    with restored_handlers():
        yield run


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty directory to work in, and a cache of its own."""
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    directory = tmp_path / "here"
    directory.mkdir()
    monkeypatch.chdir(directory)
    return directory


@pytest.fixture
def scenarios(here: Path) -> Path:
    """`./scenarios` with one scenario in it."""
    directory = here / "scenarios"
    directory.mkdir()
    text = (Path(__file__).parents[1] / "scenario" / "incident.yaml").read_text()
    (directory / "an-incident.yaml").write_text(text)
    return directory


Kept = Callable[..., RunState]


@pytest.fixture
def kept() -> Kept:
    """Make a state file of a stack that this process guards, so that it is alive."""
    me = psutil.Process()

    def keep(run_id: str = "cafe0001", *, younger_s: float = 0, **addresses: str) -> RunState:
        run = RunState(
            run_id=run_id,
            guardian_pid=me.pid,
            guardian_started=me.create_time() + younger_s,
            directory=Path("/nowhere"),
            released=True,
            checkout=CHECKOUT,
            addresses={name.replace("_", " "): address for name, address in addresses.items()},
        )
        run.save()
        return run

    return keep
