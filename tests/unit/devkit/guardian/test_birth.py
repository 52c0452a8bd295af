import os
import sys

import psutil
import pytest

from devkit.guardian.processes import birth


def set_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """As after the clock was set forward by two seconds, where the kernel knows a beginning only from its boot on."""
    if sys.platform == "linux":
        create_time = psutil.Process.create_time
        monkeypatch.setattr(psutil.Process, "create_time", lambda process: create_time(process) + 2)


def test_it_stays_when_the_clock_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    before = birth(os.getpid())
    set_clock(monkeypatch)
    assert birth(os.getpid()) == before


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's ticks")
def test_it_is_when_the_process_began_after_the_boot() -> None:
    ticks, text, *_ = birth(os.getpid()).split()
    began_s = psutil.Process().create_time() - psutil.boot_time()
    assert text == "ticks"
    assert int(ticks) / os.sysconf("SC_CLK_TCK") == pytest.approx(began_s, abs=2)
