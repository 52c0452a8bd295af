"""What holds for all tests."""

import pytest
from hypothesis import settings

from tests.main_paths import is_main_path

# Hypothesis' deadline for an example is an assertion on time, and fails where the machine is busy.
settings.register_profile("no timing", deadline=None)
settings.load_profile("no timing")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what `tests/main_paths.py` lists."""
    for item in items:
        if is_main_path(item.nodeid):
            item.add_marker("main_path")
