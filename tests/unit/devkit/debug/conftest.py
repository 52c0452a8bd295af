from collections.abc import Iterator

import pytest

from tests.unit.devkit.debug.mock_server import ServedMock, served_mock


@pytest.fixture
def served() -> Iterator[ServedMock]:
    with served_mock() as mock:
        yield mock
