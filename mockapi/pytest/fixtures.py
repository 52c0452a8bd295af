"""The mock for a test, and for a session. With `-p devkit.pytest`, both are on the mock of its stack."""

from collections.abc import Iterator

import pytest

from mockapi.client.mock_client import MockClient
from mockapi.pytest.process import MockProcess


@pytest.fixture(scope="session")
def session_mock_api(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockClient]:
    """The mock MediaWiki, a process that ends with the session: `endpoint`, `populate(…)`, `rules(…)`, `requests(…)`,
    `counts()`. Between tests it stays as it is.
    """
    # The plugin of the kit loads this one: there its stack has the mock.
    if request.config.pluginmanager.hasplugin("devkit.pytest"):
        yield request.getfixturevalue("stack").mock_api
        return
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
