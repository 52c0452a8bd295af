"""A part that is a process of the run, and its levers: signals, and a start with the same words."""

import signal
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import psutil
from typing_extensions import override

from devkit.errors import StackError
from devkit.guardian import Guardian, ManagedProcess
from devkit.stack.parts.data_directory import KeptData, prepare_data
from devkit.stack.parts.part import NOT_COPIED, Lever, Part, restore_nothing
from devkit.stack.parts.part_life import Life, require_running
from devkit.waiting import wait_until

_STOPPING = timedelta(seconds=10)
# A broker hands its partitions over first.
_ENDING = timedelta(seconds=60)
_NONE_REFUSED: Mapping[Lever, str] = {}


class ProcessPart(Part):
    """Started when it is made, and with the same arguments, environment and logs each time.

    `ready` waits until this process answers; `restore` gives one that was started again what the one before had in
    memory. `refused` says which levers the part does not have, and why. `data` is what can be copied of it.
    """

    def __init__(
        self,
        guardian: Guardian,
        name: str,
        argv: Sequence[str],
        *,
        address: str,
        ready: Callable[[Life], None],
        logs: Path,
        env: Mapping[str, str] | None = None,
        split: bool = False,
        restore: Callable[[], None] = restore_nothing,
        refused: Mapping[Lever, str] = _NONE_REFUSED,
        is_stopped: Callable[[int], bool] | None = None,
        data: KeptData | None = None,
    ) -> None:
        self._guardian, self._name, self._address, self._ready = guardian, name, address, ready
        self._argv, self._logs, self._env, self._split = argv, logs, env, split
        self._restore, self._data = restore, data
        self._refused = refused if data is not None else {**NOT_COPIED, **refused}
        self._is_stopped = is_stopped or is_process_stopped
        self._life = self._spawn(succeeds=None)

    @property
    @override
    def name(self) -> str:
        return self._name

    @property
    @override
    def address(self) -> str:
        return self._address

    @property
    @override
    def life(self) -> ManagedProcess:
        return self._life

    def await_ready(self) -> None:
        """Wait until it answers. Raises StackError, with its last words when it has ended."""
        self._ready(self._life)

    @override
    def refusal(self, lever: Lever) -> str | None:
        return self._refused.get(lever)

    @override
    def pull(self, lever: Lever) -> None:
        self.require(lever)
        match lever:
            case "pause":
                self._signal_living(signal.SIGSTOP)
                wait_until(self._has_stopped, what=f"{self.name} to stop", deadline=_STOPPING)
            case "resume":
                self._signal_living(signal.SIGCONT)
                self.await_ready()
            case "kill":
                self._end(signal.SIGKILL)
            case "restart":
                self._start_again()
            case "copy" | "restore":
                self._start_again(prepare_data(self._data, lever))

    def _start_again(self, meanwhile: Callable[[], None] = restore_nothing) -> None:
        """`meanwhile` is done while no process runs; one is started also when that fails."""
        self._end(signal.SIGTERM)
        try:
            meanwhile()
        finally:
            self._life = self._spawn(succeeds=self._life.pid)
            self.await_ready()
            self._restore()

    def _spawn(self, *, succeeds: int | None) -> ManagedProcess:
        return self._guardian.spawn(
            self._name, self._argv, logs=self._logs, env=self._env, split=self._split, succeeds=succeeds
        )

    def _has_stopped(self) -> bool:
        require_running(self._life)
        return self._is_stopped(self._life.pid)

    def _signal_living(self, number: signal.Signals) -> None:
        require_running(self._life)
        self._life.signal(number)

    def _end(self, number: signal.Signals) -> None:
        """End it with a signal, if it has not ended already."""
        life = self._life
        life.signal(number)
        # A stopped process takes a SIGTERM only when it goes on.
        life.signal(signal.SIGCONT)
        wait_until(
            lambda: life.exit_code is not None,
            what=f"{self.name} to end by {number.name}",
            deadline=_ENDING,
            hint=f"its log is {life.stderr}",
        )
        self._guardian.require_running()


def is_process_stopped(pid: int) -> bool:
    """Raises StackError when it is gone."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_STOPPED)
    except psutil.Error as error:
        raise StackError(f"process {pid} was to stop, and is gone") from error
