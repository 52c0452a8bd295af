"""`stop_process: {process: driver}`: a process of the program under test stands still, and goes on at the end."""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import psutil
from typing_extensions import override

from devkit.faults.claims import WITHIN
from devkit.faults.fault import Acting, Context, Need, Proof, Undo
from devkit.faults.programs.target import ProcessFault
from devkit.faults.suspension import process_data, resume_process


class StopProcess(ProcessFault):
    """It gets SIGSTOP, as a debugger or a suspended machine would stop it; at the end SIGCONT."""

    name: ClassVar[str] = "stop_process"
    summary: ClassVar[str] = "a driver, executor or Python worker of the program stands still"
    example: ClassVar[str] = "{process: driver}"

    @override
    def needs(self) -> tuple[Need, ...]:
        return ()

    @override
    def claims(self, topics: Mapping[str, str]) -> frozenset[str]:
        processes = f"{self.process} processes"
        return frozenset({processes if self.program is None else f"{processes}{WITHIN}{self.program}"})

    @override
    def begin(self, context: Context) -> Acting:
        stopped = []
        for process in self.select(context):
            with contextlib.suppress(psutil.NoSuchProcess):
                context.plan(Undo(data=process_data(process)))
                process.suspend()
                stopped.append(process)
        return _Stopped(stopped)

    @classmethod
    @override
    def undo(cls, undo: Undo) -> None:
        resume_process(undo.data)


@dataclass(frozen=True)
class _Stopped:
    processes: Sequence[psutil.Process]

    def end(self) -> Proof:
        """What is stopped shows it until it goes on; one that ended meanwhile was killed from outside."""
        states = []
        for process in self.processes:
            state = "gone"
            with contextlib.suppress(psutil.NoSuchProcess):
                state = process.status()
                process.resume()
            states.append((process.pid, state))
        did = ", ".join(f"process {pid} was {state}" for pid, state in states) or "there was no process any more"
        return Proof(acted=any(state == psutil.STATUS_STOPPED for _pid, state in states), did=did)
