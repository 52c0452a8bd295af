"""A pytest plugin, `-p devkit.pytest`: a stack for a suite, and scenario files as tests.

    def test_mine(kafka, object_store, mock_api): ...      # on the stack of --devkit-stack, embedded by default
    $ pytest -p devkit.pytest scenarios/                    # a test for each file: both arms, and the verdict

An item passes when the verdict is *reproduced and fixed*, fails when it is refuted, and is an error when it is
inconclusive: nothing is known then, and that must not look like either.
"""

from devkit.pytest.fixtures import devkit_run, kafka, object_store, scenario, stack
from devkit.pytest.plugin_options import pytest_addoption, pytest_load_initial_conftests
from devkit.pytest.scenario_item import pytest_collect_file

# `mock_api` and `session_mock_api`, which are on the mock of the stack while this plugin is loaded.
pytest_plugins = ("mockapi.pytest",)

__all__ = [
    "devkit_run",
    "kafka",
    "object_store",
    "pytest_addoption",
    "pytest_collect_file",
    "pytest_load_initial_conftests",
    "scenario",
    "stack",
]
