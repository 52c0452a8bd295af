"""`kill_process: {process: worker}`: a process of the program under test gets SIGKILL, or SIGTERM."""

import contextlib
import signal as signals
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar, Literal

import psutil
from pydantic import Field
from typing_extensions import override

from devkit.errors import WaitTimeoutError
from devkit.faults.fault import Acting, Context, Need, Proof
from devkit.faults.programs.target import ProcessFault
from devkit.guardian.processes import is_alive
from devkit.programs.role import Role
from devkit.waiting import wait_until

_DYING = timedelta(seconds=5)


class KillProcess(ProcessFault):
    """The program's supervisor does with its end what it does with any; nothing is started here."""

    name: ClassVar[str] = "kill_process"
    summary: ClassVar[str] = "a driver, executor or Python worker of the program gets SIGKILL or SIGTERM"
    example: ClassVar[str] = "{process: worker}"
    lasts: ClassVar[bool] = False

    signal: Literal["KILL", "TERM"] = Field(default="KILL", description="Signal that it gets, SIGKILL or SIGTERM.")

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def begin(self, context: Context) -> Acting:
        number = signals.Signals[f"SIG{self.signal}"]
        reached, ended = list[psutil.Process](), list[psutil.Process]()
        for process in self.select(context):
            (reached if _sent(process, number) else ended).append(process)
        return _Signalled(number, self.process, reached, ended)


def _sent(process: psutil.Process, number: signals.Signals) -> bool:
    """Whether it got the signal: one that has ended of itself did not, though a zombie would take it."""
    if is_alive(process):
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)
            return True
    return False


@dataclass(frozen=True)
class _Signalled:
    number: signals.Signals
    role: Role
    reached: Sequence[psutil.Process]
    ended_before: Sequence[psutil.Process]

    def end(self) -> Proof:
        """SIGTERM may be handled in the process's own time, so that it still lives then is no failure of the fault."""
        with contextlib.suppress(WaitTimeoutError):
            wait_until(lambda: not self._alive(), what="the processes to end", deadline=_DYING)
        alive, did = self._alive(), []
        if self.reached:
            still = f"delivered, {len(alive)} of {len(self.reached)} still ran {_DYING.seconds} s later"
            did.append(f"{self.number.name} to {self.role} {_ids(self.reached)}: {still if alive else 'ended'}")
        if self.ended_before:
            did.append(f"{self.role} {_ids(self.ended_before)} had ended before {self.number.name} was sent")
        acted = bool(self.reached) and (not alive or self.number is signals.SIGTERM)
        return Proof(acted, "; ".join(did))

    def _alive(self) -> list[psutil.Process]:
        return [process for process in self.reached if is_alive(process)]


def _ids(processes: Sequence[psutil.Process]) -> str:
    return ", ".join(str(process.pid) for process in processes)
