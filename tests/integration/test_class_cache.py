"""The training run for Spark's class cache with the real parts, and its interrupt.

Set-up: a cache of the test's own, with the jars that are there. Steps: `devkit doctor --train`, ended by Ctrl-C as soon
as the pipeline runs, then left alone. Checked: exit codes, what is in the cache, no process and no directory of a run.
"""

import os
import signal
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.guardian.processes import RUN_VARIABLE, marked
from devkit.guardian.run_state import known_runs
from devkit.jvm import jars
from devkit.jvm.cache import CACHE_VARIABLE, cache_dir
from devkit.programs.spark.place import class_cache
from devkit.waiting import wait_until
from tests.integration.cli_run import CliRun

ROOMS = ("devkit/doctor", "devkit/jvm", "devkit/programs")
TRAINED = timedelta(minutes=12)


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in jars.JAR_SETS:
        jars.ensure(name)
    directory = tmp_path / "cache"
    directory.mkdir()
    (directory / "jars").symlink_to(cache_dir() / "jars")
    monkeypatch.setenv(CACHE_VARIABLE, str(directory))
    return directory


def kept(cache: Path) -> set[str]:
    return {path.suffix for path in (cache / "aot").iterdir()}


@pytest.mark.slow
def test_an_interrupted_training_leaves_no_half_of_a_cache_and_another_makes_it(
    devkit_cli: Callable[..., CliRun], cache: Path
) -> None:
    run = devkit_cli("doctor", "--train", out=False)
    log = class_cache().logs / "training.out"
    run.await_condition(lambda: log.exists() and log.read_text(), "the pipeline to run", TRAINED.total_seconds())
    (state,) = known_runs()
    os.killpg(run.process.pid, signal.SIGINT)
    assert run.process.wait(60) == 130
    assert kept(cache) == {".lock", ".logs"}
    wait_until(lambda: not known_runs(), what="the run to be over", deadline=timedelta(seconds=30))
    assert marked(RUN_VARIABLE, state.run_id) == []
    assert not state.directory.exists()

    again = devkit_cli("doctor", "--train", out=False)
    again.process.wait(TRAINED.total_seconds())
    assert kept(cache) == {".lock", ".logs", ".aot", ".crc32"}, again.output()
    assert class_cache().exists
    assert "Spark's JVM starts with it" in again.output()
