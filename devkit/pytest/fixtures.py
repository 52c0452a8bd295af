"""A stack for the session, and its parts. All of it ends with the session, also when pytest is killed."""

import io
import os
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest

from devkit.pytest.plugin_options import backend, stack_request
from devkit.pytest.quiet import quiet_libraries
from devkit.pytest.scenario_play import PlayedScenario, play_scenario

if TYPE_CHECKING:
    from devkit.guardian import Guardian
    from devkit.pytest.kafka_fixture import TestKafka
    from devkit.stack.parts.object_store import ObjectStore
    from devkit.stack.stack import Stack


@pytest.fixture(scope="session")
def devkit_run() -> "Iterator[Guardian]":
    """The run that the session's stack belongs to: processes started through it end with it."""
    with quiet_libraries():
        from devkit.guardian import Guardian

    with Guardian() as guardian:
        yield guardian


@pytest.fixture(scope="session")
def stack(
    request: pytest.FixtureRequest, devkit_run: "Guardian", tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Stack]":
    """A running stack; `--devkit-stack` says of which kind. Its parts log into a temporary directory."""
    config = request.config
    logs = tmp_path_factory.mktemp("devkit-stack")
    with quiet_libraries():
        from devkit.stack.registry import start_stack

        started = start_stack(backend(config), devkit_run, logs, stack_request(config))
    yield started
    with quiet_libraries():
        started.leave()


@pytest.fixture(scope="session")
def kafka(request: pytest.FixtureRequest, stack: "Stack") -> "Iterator[TestKafka]":
    """A broker: `bootstrap`, `topic(…)` makes a topic, `produce(…)` and `consume(…)` write and read records."""
    with quiet_libraries():
        from devkit.pytest.kafka_fixture import TestKafka

    broker = TestKafka(stack.kafka.bootstrap, stack.kafka.direct)
    yield broker
    if backend(request.config) == "external":
        broker.remove_topics()


@pytest.fixture(scope="session")
def object_store(stack: "Stack") -> "ObjectStore":
    """An S3 store: `endpoint`, `client()`, `credentials()`."""
    return stack.object_store


@pytest.fixture
def scenario(request: pytest.FixtureRequest) -> "Callable[[str | os.PathLike[str]], PlayedScenario]":
    """Plays a scenario, `scenario("NAME")` or `scenario("scenarios/mine.yaml")`, on a stack of its own:
    both arms. Gives `exit_code`, `verdict` and `directory`.
    """

    def play(name_or_file: str | os.PathLike[str]) -> PlayedScenario:
        with quiet_libraries():
            from devkit.cli.scenario_directory import scenario_directory
            from devkit.scenario.load import find_scenario, load_scenario

            found = load_scenario(find_scenario(os.fspath(name_or_file), scenario_directory()))
        lines = io.StringIO()
        try:
            return play_scenario(request.config, found, request.node.nodeid, lines)
        finally:
            request.node.add_report_section("call", "scenario", lines.getvalue())

    return play
