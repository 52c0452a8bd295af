import os
import subprocess
import sys

import psutil
import pytest

from devkit.guardian import Guardian
from devkit.guardian.processes import birth
from devkit.guardian.run_state import known_runs
from tests.unit.devkit.guardian.conftest import SLEEP


def set_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after the clock was set forward by two seconds, where the kernel knows a beginning only from its boot on."""
    if sys.platform == "linux":
        create_time = psutil.Process.create_time
        monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + 2)


def test_it_stays_when_the_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before = birth(os.getpid())
    set_clock(monkeypatch)
    assert birth(os.getpid()) == before


def test_it_is_the_processs_own() -> None:
    with subprocess.Popen(SLEEP) as process:
        try:
            assert birth(process.pid) != birth(os.getpid())
        finally:
            process.kill()


def test_the_state_of_a_run_has_that_of_its_guardian() -> None:
    with Guardian():
        (run,) = known_runs()
        assert run.guardian_birth == birth(run.guardian_pid)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's ticks")
def test_it_is_when_the_process_began_after_the_boot() -> None:
    ticks, text, *_ = birth(os.getpid()).split()
    began_s = psutil.Process().create_time() - psutil.boot_time()
    assert text == "ticks"
    assert int(ticks) / os.sysconf("SC_CLK_TCK") == pytest.approx(began_s, abs=2)


def test_of_a_process_that_is_gone() -> None:
    with subprocess.Popen(SLEEP) as process:
        process.kill()
    with pytest.raises(psutil.NoSuchProcess):
        birth(process.pid)
