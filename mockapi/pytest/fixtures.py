"""The mock for a test, and for a session. `-p devkit.pytest` has the same two, on the mock of its stack."""

from collections.abc import Iterator

import pytest

from mockapi.client.mock_client import MockClient
from mockapi.pytest.process import MockProcess


@pytest.fixture(scope="session")
def session_mock_api(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockClient]:
    """The mock MediaWiki, a process that ends with the session: `endpoint`, `populate(…)`, `rules(…)`, `requests(…)`,
    `counts()`. Between tests it stays as it is.
    """
    process = MockProcess(tmp_path_factory.mktemp("mockapi") / "mockapi.log")
    try:
        client = MockClient(process.await_endpoint())
        yield client
        client.close()
    finally:
        process.stop()


@pytest.fixture
def mock_api(session_mock_api: MockClient) -> MockClient:
    """The mock MediaWiki as it was at its start: no rule, no request, and its generated pages. `endpoint`,
    `populate(…)`, `rules(…)`, `requests(…)`, `counts()`.
    """
    session_mock_api.reset()
    return session_mock_api
