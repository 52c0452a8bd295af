"""What holds for all tests."""

import gc
import os
import signal

import pytest
from hypothesis import settings

from tests.main_paths import is_main_path
from tests.process_starts import ProcessStarts

# Hypothesis' deadline for an example is an assertion on time, and fails where the machine is busy.
settings.register_profile("quick", deadline=None, max_examples=50)
settings.register_profile("thorough", deadline=None, max_examples=200)
settings.load_profile("quick")

# A shell's background processes ignore an interrupt, and so would all that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A run trains Spark's class cache after its verdict, which takes a minute and a Kafka: the tests of that say so.
os.environ["DEVKIT_NO_TRAINING"] = "1"


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(ProcessStarts())


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """For `-n auto`: one for each core, as each collects all tests anew; more than 8 do not pay."""
    return min(8, os.cpu_count() or 1)


# Full garbage collections would walk all collected tests, over and over: a tenth of the suite's processor time.
gc.disable()


def pytest_collection_finish() -> None:
    """The tests stay until the end, so no garbage collection looks at them; what a test leaves can wait for a while."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
    gc.enable()


# As each is collected, since xdist reads the groups before a conftest may change the whole list.
def pytest_itemcollected(item: pytest.Item) -> None:
    """Marks the unit tests, and what `tests/main_paths.py` lists: those share a broker and a Spark, so one process runs
    them all.
    """
    if item.nodeid.startswith("tests/unit/"):
        item.add_marker("unit")
    elif is_main_path(item.nodeid):
        item.add_marker("main_path")
        item.add_marker(pytest.mark.xdist_group("main_path"))
