"""Unit tests start no process. A test that does fails, unless it has the mark `starts_process` with a reason."""

import _posixsubprocess
import os
import shlex
import sys
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final

import pytest

UNIT_TESTS: Final = "tests/unit/"
MARK: Final = "starts_process"
HINT: Final = (
    "hint: run the code in process (click's CliRunner, pytester.runpytest_inprocess), move the test to"
    f' tests/integration, or mark it with @pytest.mark.{MARK}("reason") where the process is cheap and a detail'
)
# `multiprocessing` raises no audit event where it spawns; this name is of this module.
_SPAWN_EVENT: Final = "tests.process_starts.spawn"
# Which argument of an event is the command; a fork has none.
_COMMAND_ARGUMENTS: Final[dict[str, int | None]] = {
    "subprocess.Popen": 1,
    "os.posix_spawn": 1,
    "os.exec": 1,
    "os.system": 0,
    "os.fork": None,
    "os.forkpty": None,
    _SPAWN_EVENT: 0,
}
_LONGEST_COMMAND: Final = 300

_recorders: list[list[str]] = []
"""The commands that were started in each test that runs now: several where a test runs pytest in process."""


class ProcessStarts:
    """The plugin. It fails the phase of the test in which a process was started, whatever the code made of an error;
    a fixture counts for the test that sets it up.
    """

    def __init__(self) -> None:
        _install_hook()

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Generator[None, object, object]:
        with _checked(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, object, object]:
        with _checked(item):
            return (yield)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> Generator[None, object, object]:
        with _checked(item):
            return (yield)


@contextmanager
def _checked(item: pytest.Item) -> Iterator[None]:
    """An exception of the test's own is reported as well, as what came before this failure."""
    commands: list[str] = []
    _recorders.append(commands)
    try:
        yield
    finally:
        _recorders.pop()
        if item.nodeid.startswith(UNIT_TESTS):
            mark = item.get_closest_marker(MARK)
            if mark is not None and not any(mark.args):
                pytest.fail(f"{item.nodeid}: the mark {MARK} has no reason\n{HINT}", pytrace=False)
            if mark is None and commands:
                pytest.fail(f"{item.nodeid} started a process: {'; '.join(commands)}\n{HINT}", pytrace=False)


def _install_hook() -> None:
    """An audit hook cannot be removed, so a process gets it once, however often pytest runs in it."""
    if getattr(_posixsubprocess.fork_exec, "__module__", None) == __name__:
        return
    fork_exec = _posixsubprocess.fork_exec

    def audited_fork_exec(command: Sequence[Any], *arguments: Any) -> int:
        sys.audit(_SPAWN_EVENT, command)
        return fork_exec(command, *arguments)

    # `multiprocessing` looks it up here. `subprocess` has imported it by name, and raises an event of its own.
    _posixsubprocess.fork_exec = audited_fork_exec
    sys.addaudithook(_record)


def _record(event: str, arguments: tuple[Any, ...]) -> None:
    if _recorders and event in _COMMAND_ARGUMENTS:
        _recorders[-1].append(_format_command(event, arguments))


def _format_command(event: str, arguments: tuple[Any, ...]) -> str:
    position = _COMMAND_ARGUMENTS[event]
    if position is None:
        return event
    command = arguments[position]
    is_text = isinstance(command, str | bytes | os.PathLike)
    text = os.fsdecode(command) if is_text else shlex.join(os.fsdecode(word) for word in command)
    return text if len(text) <= _LONGEST_COMMAND else f"{text[:_LONGEST_COMMAND]}…"
