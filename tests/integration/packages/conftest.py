"""The distributions as somebody gets them: built from a copy of the tracked files, each in its own environment."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

TOP = Path(__file__).parents[3]
UV = Path(sys.executable).with_name("uv")
# The directory of each distribution, in the checkout.
DISTRIBUTIONS = {
    "enrichment-located-config": "located_config",
    "enrichment-mockapi": "mockapi",
    "enrichment-pipeline": "pipeline",
    "enrichment-devkit": ".",
}
_DEADLINE_S = 900.0


def run(*argv: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Without what leads Python to this checkout."""
    environment = {name: value for name, value in os.environ.items() if name not in {"PYTHONPATH", "VIRTUAL_ENV"}}
    return subprocess.run(argv, cwd=cwd, env=environment, capture_output=True, text=True, timeout=_DEADLINE_S)


def must(*argv: str | Path, cwd: Path) -> str:
    """Standard output of a command that is to succeed."""
    done = run(*argv, cwd=cwd)
    assert done.returncode == 0, f"{argv}: exit {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@dataclass(frozen=True)
class Installed:
    """An environment with one distribution and what it needs; `here` is an empty directory to work in."""

    environment: Path
    here: Path

    def command(self, name: str) -> Path:
        return self.environment / "bin" / name

    def run(self, name: str, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run(self.command(name), *arguments, cwd=self.here)

    def must(self, name: str, *arguments: str | Path) -> str:
        return must(self.command(name), *arguments, cwd=self.here)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the source distribution of each, and the wheel that was built from it; no network is needed."""
    clone, directory = tmp_path_factory.mktemp("clone"), tmp_path_factory.mktemp("built")
    for name in must("git", "ls-files", "-z", cwd=TOP).split("\0"):
        if name and (TOP / name).is_file():
            (clone / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(TOP / name, clone / name)
    how = ("--offline", "--no-build-isolation", "--python", sys.executable, "--out-dir", directory)
    for room in DISTRIBUTIONS.values():
        must(UV, "build", *how, clone / room, cwd=clone)
    return directory


@pytest.fixture
def install(built: Path, tmp_path: Path) -> Callable[[str], Installed]:
    def install(name: str) -> Installed:
        environment, here = tmp_path / "environment", tmp_path / "here"
        here.mkdir()
        must(UV, "venv", "--python", sys.executable, environment, cwd=here)
        where = ("--python", environment / "bin" / "python", "--find-links", built)
        must(UV, "pip", "install", *where, "--constraint", TOP / "locks/all.lock", name, cwd=here)
        return Installed(environment, here)

    return install
