"""A stack for the session, and its parts. All of it ends with the session, also when pytest is killed."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from devkit.pytest.plugin_options import backend, stack_request

if TYPE_CHECKING:
    from devkit.guardian import Guardian
    from devkit.stack.parts.kafka import KafkaBroker
    from devkit.stack.parts.mock_api import MockApi
    from devkit.stack.parts.object_store import ObjectStore
    from devkit.stack.stack import Stack


@pytest.fixture(scope="session")
def devkit_run() -> "Iterator[Guardian]":
    """The run that the session's stack belongs to: processes started through it end with it."""
    from devkit.guardian import Guardian

    with Guardian() as guardian:
        yield guardian


@pytest.fixture(scope="session")
def stack(
    request: pytest.FixtureRequest, devkit_run: "Guardian", tmp_path_factory: pytest.TempPathFactory
) -> "Iterator[Stack]":
    """A running stack; `--devkit-stack` says of which kind. Its parts log into a temporary directory."""
    from devkit.stack.registry import start_stack

    config = request.config
    started = start_stack(backend(config), devkit_run, tmp_path_factory.mktemp("devkit-stack"), stack_request(config))
    yield started
    started.leave()


@pytest.fixture(scope="session")
def kafka(stack: "Stack") -> "KafkaBroker":
    """A broker: `kafka.bootstrap`. Topics are made by who needs them."""
    return stack.kafka


@pytest.fixture(scope="session")
def object_store(stack: "Stack") -> "ObjectStore":
    """An S3 store: `endpoint`, `client()`, `credentials()`."""
    return stack.object_store


@pytest.fixture(scope="session")
def mock_api(stack: "Stack") -> "MockApi":
    """The mock MediaWiki: `endpoint`, `populate(…)`, `counts()`."""
    return stack.mock_api
