"""What the tests with containers share. Where there is no engine they say so at the end; in CI that is a failure.

DEVKIT_NO_DOCKER=1 says that this is meant; the summary still names what was not tested.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.integration.docker.engine import EngineMissingError, TestEngine, an_engine
from tests.side_by_side import MACHINE

_REMARKS = pytest.StashKey[list[str]]()
Docker = Callable[..., str]


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_REMARKS] = []


# As each is collected: see tests/side_by_side.py.
def pytest_itemcollected(item: pytest.Item) -> None:
    item.add_marker(MACHINE)


@pytest.fixture(scope="session")
def docker_engine(pytestconfig: pytest.Config) -> Iterator[TestEngine]:
    """A Docker engine with Compose and all images of the stacks; the environment leads to it."""
    remarks = pytestconfig.stash.setdefault(_REMARKS, [])
    if os.environ.get("DEVKIT_NO_DOCKER"):
        remarks.append("NOT TESTED: stacks of containers, as DEVKIT_NO_DOCKER is set")
        pytest.skip("DEVKIT_NO_DOCKER is set")
    try:
        with an_engine() as engine:
            remarks.extend(
                f"stand-in: {image} was built here and is not the public image" for image in engine.stand_ins
            )
            yield engine
    except EngineMissingError as error:
        remarks.append(f"NOT TESTED: stacks of containers: {error}")
        if os.environ.get("CI"):
            pytest.fail(f"CI has to test the stacks of containers, or say DEVKIT_NO_DOCKER=1: {error}", pytrace=False)
        pytest.skip(str(error))


@pytest.fixture
def docker(docker_engine: TestEngine) -> Docker:
    """Run the docker command; returns what it printed."""

    def call(*arguments: str) -> str:
        return subprocess.run(["docker", *arguments], capture_output=True, text=True, check=True, timeout=60).stdout

    return call


def pytest_sessionfinish(session: pytest.Session) -> None:
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["containers"] = session.config.stash.get(_REMARKS, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """What a process of xdist's has remarked."""
    node.config.stash.setdefault(_REMARKS, []).extend(getattr(node, "workeroutput", {}).get("containers", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for remark in config.stash.get(_REMARKS, []):
        terminalreporter.write_line(remark, yellow=True, bold=remark.startswith("NOT"))
