"""`kill_process: {process: worker}`: a process of the program under test gets SIGKILL, or SIGTERM."""

import contextlib
import signal as signals
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

import psutil

from devkit.errors import WaitTimeoutError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof
from devkit.faults.programs.target import of_role
from devkit.guardian.processes import is_alive
from devkit.programs.program import Role
from devkit.waiting import wait_until

_DYING = timedelta(seconds=5)


class KillProcess(Fault):
    """The program's supervisor does with its end what it does with any; nothing is started here."""

    name: ClassVar[str] = "kill_process"
    summary: ClassVar[str] = "a driver, executor or Python worker of the program gets SIGKILL or SIGTERM"
    example: ClassVar[str] = "{process: worker}"
    lasts: ClassVar[bool] = False

    process: Role
    signal: Literal["KILL", "TERM"] = "KILL"
    every: bool = False

    def needs(self) -> tuple[Need, ...]:
        return ()

    def begin(self, context: Context) -> Acting:
        number = signals.Signals[f"SIG{self.signal}"]
        processes = of_role(context, self.process, every=self.every)
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return _Signalled(number, self.process, processes)


@dataclass(frozen=True)
class _Signalled:
    number: signals.Signals
    role: Role
    processes: Sequence[psutil.Process]

    def end(self) -> Proof:
        """SIGTERM may be handled in the process's own time, so that it still lives then is no failure of the fault."""
        with contextlib.suppress(WaitTimeoutError):
            wait_until(lambda: not self._alive(), what="the processes to end", deadline=_DYING)
        alive = self._alive()
        told = f"{self.number.name} to {self.role} {', '.join(str(process.pid) for process in self.processes)}"
        ended = "ended" if not alive else f"{len(alive)} of {len(self.processes)} still ran {_DYING.seconds} s later"
        return Proof(acted=not alive or self.number is signals.SIGTERM, did=f"{told}: {ended}")

    def _alive(self) -> list[psutil.Process]:
        return [process for process in self.processes if is_alive(process)]
