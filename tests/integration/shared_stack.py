"""The session's stack for runs of the command line that only need one: no broker, store or mock starts for them.

Such a run plays as on any stack that was there before it: each arm makes its topics afresh, and at its end the run
removes its topics and objects. A run whose faults meet a part, or whose stack is what the test is about, has its own.
"""

import functools
from collections.abc import Callable
from pathlib import Path

import pytest

from devkit.guardian import Guardian
from devkit.stack.stack import Stack
from tests.integration.cli_run import CliRun

PlayScenario = Callable[..., CliRun]

ADDRESSES = """\
kafka: {kafka}
s3_endpoint: {store}
mock_api: {mock}
may_recreate_topics: true
"""


@pytest.fixture(scope="session")
def shared_addresses(stack: tuple[Guardian, Stack], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file for `--addresses`."""
    kafka, store, mock = stack[1].kafka.bootstrap, stack[1].object_store.endpoint, stack[1].mock_api.endpoint
    file = tmp_path_factory.mktemp("shared-stack") / "addresses.yaml"
    file.write_text(ADDRESSES.format(kafka=kafka, store=store, mock=mock))
    return file


@pytest.fixture
def play_scenario(devkit_cli: Callable[..., CliRun], shared_addresses: Path) -> PlayScenario:
    """Start `devkit scenario run` on it with arguments."""
    on_it = ("--stack", "external", "--addresses", str(shared_addresses))
    return functools.partial(devkit_cli, "scenario", "run", *on_it)
