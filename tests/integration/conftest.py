"""Real parts for the tests: a stack for the session, and runs of the command line with what they leave."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from devkit.guardian import Guardian
from devkit.stack.embedded import Stack, start_embedded
from tests.integration.cli_run import CliRun

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def devkit_cli(tmp_path: Path) -> Iterator[Callable[..., CliRun]]:
    """Start `devkit` with arguments; whatever of it still runs at the end of the test is ended."""
    started: list[CliRun] = []

    def start(*arguments: str, env: dict[str, str] | None = None) -> CliRun:
        out = tmp_path / f"runs-{len(started)}"
        output_file = tmp_path / f"output-{len(started)}.txt"
        with output_file.open("w") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "devkit.cli.main", *arguments, "--out", str(out)],
                cwd=REPOSITORY,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                env=os.environ | (env or {}),
                start_new_session=True,
            )
        run = CliRun(process, out, output_file)
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
