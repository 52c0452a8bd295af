"""A plugin for integration tests in several processes: `pytest -n 2 --dist loadgroup -p tests.side_by_side`.

The tests of a file go to one process, which so makes a file's parts once. Files that look at the whole machine name one
group, `MACHINE`. Each process has a state directory of its own, so that no test sees the runs of the other process.
"""

import os
import shutil
import tempfile
from typing import Final

import pytest

from devkit.jvm.cache import STATE_VARIABLE

MACHINE: Final = pytest.mark.xdist_group("machine")
"""For tests of ports, processes, mounts, load or the Docker engine: they see what another process does."""

_state = pytest.StashKey[str]()


def pytest_configure(config: pytest.Config) -> None:
    if hasattr(config, "workerinput"):
        os.environ[STATE_VARIABLE] = config.stash[_state] = tempfile.mkdtemp(prefix="devkit-state-")


def pytest_unconfigure(config: pytest.Config) -> None:
    if directory := config.stash.get(_state, None):
        shutil.rmtree(directory, ignore_errors=True)


# As each is collected, since xdist reads the groups before a plugin may change the whole list.
def pytest_itemcollected(item: pytest.Item) -> None:
    if item.get_closest_marker("xdist_group") is None:
        item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))
