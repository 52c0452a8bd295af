import os
import sys

import psutil
import pytest

from benchmarks.verdicts.machine import machine, spinning


def children() -> set[int]:
    return {child.pid for child in psutil.Process().children()}


@pytest.mark.starts_process("the processes that keep the machine busy")
def test_busy_processes_are_there_meanwhile_and_no_longer() -> None:
    before = children()
    with spinning(2, at_most_s=60):
        assert len(children() - before) == 2
    assert children() == before


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has it")
def test_one_core_is_for_what_is_started_meanwhile() -> None:
    cores = os.sched_getaffinity(0)
    with machine("one core", processes=0, at_most_s=1):
        assert len(os.sched_getaffinity(0)) == 1
    assert os.sched_getaffinity(0) == cores
