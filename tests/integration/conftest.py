"""Real parts for the tests: a stack for the session, and runs of the command line with what they leave."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from devkit.guardian import Guardian
from devkit.programs.spark.training import NO_TRAINING_VARIABLE
from devkit.stack.embedded import start_embedded
from devkit.stack.stack import Stack
from tests.integration.cli_run import REPOSITORY, CliRun
from tests.integration.crash.bench import Bench
from tests.integration.crash.warm_jvm import WarmJvm
from tests.integration.secured_broker import shared_secured_broker  # noqa: F401 - a fixture
from tests.integration.shared_stack import play_scenario, shared_addresses  # noqa: F401 - fixtures

# Parts of tests here, and no scenarios to be collected as such.
collect_ignore_glob = ["scenarios/*.yaml"]


@pytest.fixture
def devkit_cli(tmp_path: Path) -> Iterator[Callable[..., CliRun]]:
    """Start `devkit` with arguments; whatever of it still runs at the end of the test is ended. No test waits for the
    class cache to be made.
    """
    started: list[CliRun] = []

    def start(*arguments: str, env: dict[str, str] | None = None, out: bool = True) -> CliRun:
        runs = tmp_path / f"runs-{len(started)}"
        output_file = tmp_path / f"output-{len(started)}.txt"
        with output_file.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "devkit.cli.main", *arguments, *(["--out", str(runs)] if out else [])],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | {NO_TRAINING_VARIABLE: "1"} | (env or {}),
                start_new_session=True,
            )
        run = CliRun(process, runs, output_file)
        started.append(run)
        return run

    yield start
    for run in started:
        if run.process.poll() is None:
            run.process.send_signal(signal.SIGINT)
            run.process.wait(60)


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Guardian, Stack]]:
    """A real Kafka, object store and mock API for all tests of the session."""
    with Guardian() as guardian:
        yield guardian, start_embedded(guardian, tmp_path_factory.mktemp("stack"))


@pytest.fixture(scope="session")
def warm_jvm(stack: tuple[Guardian, Stack], tmp_path_factory: pytest.TempPathFactory) -> Iterator[WarmJvm]:
    """Spark's JVM for jobs of the session's tests, one after the other."""
    with closing(WarmJvm(*stack, tmp_path_factory.mktemp("warm-jvm"))) as jvm:
        yield jvm


@pytest.fixture
def make_bench(
    stack: tuple[Guardian, Stack], warm_jvm: WarmJvm, tmp_path: Path, request: pytest.FixtureRequest
) -> Iterator[Callable[..., Bench]]:
    """Makes a pipeline with deferral on the stack, with topics and traffic of the test's own."""
    made: list[Bench] = []

    def make(**kwargs: Any) -> Bench:
        name = re.sub(r"[^A-Za-z0-9.-]+", "-", request.node.name)[:80].strip("-")
        made.append(Bench(*stack, tmp_path / f"bench-{len(made)}", f"{name}-{len(made)}", warm_jvm=warm_jvm, **kwargs))
        return made[-1]

    yield make
    for bench in made:
        bench.close()
