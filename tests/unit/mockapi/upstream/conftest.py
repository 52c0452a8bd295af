import pytest

from tests.unit.mockapi.manual_time import ManualTime


@pytest.fixture
def timers() -> ManualTime:
    return ManualTime(0.0)
