"""A JVM that ends, with a process of the operating system in its place."""

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from py4j.protocol import Py4JNetworkError

from pipeline.driver.jvm import JvmEnd

LEFT, NOTHING = SimpleNamespace(is_there=True), SimpleNamespace(is_there=False)


def spark(stopped: bool | Exception, code: int | None) -> Any:
    """`code` is that of the JVM's process, None where another one has started it."""

    def is_stopped() -> bool:
        if isinstance(stopped, Exception):
            raise stopped
        return stopped

    started = None if code is None else subprocess.Popen([sys.executable, "-c", f"raise SystemExit({code})"])
    context = SimpleNamespace(isStopped=is_stopped)
    jsc = SimpleNamespace(sc=lambda: context)
    return SimpleNamespace(sparkContext=SimpleNamespace(_jsc=jsc, _gateway=SimpleNamespace(proc=started)))


@pytest.mark.parametrize("stopped", [True, Py4JNetworkError("gone"), ConnectionRefusedError(111)])
def test_its_exit_code_tells(stopped: bool | Exception) -> None:
    assert JvmEnd(spark(stopped, 52), NOTHING).is_out_of_memory()  # type: ignore[arg-type]
    assert not JvmEnd(spark(stopped, 137), NOTHING).is_out_of_memory()  # type: ignore[arg-type]


def test_where_that_is_not_to_be_had_its_dump_does() -> None:
    assert JvmEnd(spark(True, None), LEFT).is_out_of_memory()  # type: ignore[arg-type]
    assert not JvmEnd(spark(True, None), NOTHING).is_out_of_memory()  # type: ignore[arg-type]


def test_one_that_goes_on_is_not_waited_for() -> None:
    """A thread of it may have run out of memory before."""
    found = spark(False, None)
    found.sparkContext._gateway.proc = SimpleNamespace(wait=lambda _seconds: pytest.fail("it lives"))
    assert not JvmEnd(found, LEFT).is_out_of_memory()  # type: ignore[arg-type]


def test_one_that_does_not_come_to_its_end_is_given_up() -> None:
    def wait(seconds: float) -> int:
        raise subprocess.TimeoutExpired("java", seconds)

    found = spark(True, None)
    found.sparkContext._gateway.proc = SimpleNamespace(wait=wait)
    assert not JvmEnd(found, NOTHING).is_out_of_memory()  # type: ignore[arg-type]
    assert JvmEnd(found, LEFT).is_out_of_memory()  # type: ignore[arg-type]
