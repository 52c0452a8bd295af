"""`kill: {part: kafka}`: a part dies by SIGKILL, and is started again at the fault's end."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from devkit.faults.fault import Acting, Context, Need, Proof
from devkit.faults.parts.restarting_fault import RestartingFault
from devkit.stack.parts.part import Part
from devkit.stack.parts.part_life import Life


class Kill(RestartingFault):
    """What the part had not written to disk is gone; it is started again with the same data on the same port.

    Its start begins after `for`, and a broker takes some ten seconds for that, in which it is away as well.
    """

    name: ClassVar[str] = "kill"
    summary: ClassVar[str] = "a part dies by SIGKILL; at the end it is started again with its data"
    example: ClassVar[str] = "{part: kafka}"

    @override
    def needs(self) -> tuple[Need, ...]:
        return Need(self.part, "kill"), Need(self.part, "restart")

    @override
    def begin(self, context: Context) -> Acting:
        part, life = context.parts[self.part], context.parts[self.part].life
        self.plan_start(context)
        part.pull("kill")
        return _Killed(part, life, time.monotonic())


@dataclass(frozen=True)
class _Killed:
    part: Part
    life: Life
    since_s: float
    clock: Callable[[], float] = time.monotonic

    def end(self) -> Proof:
        code, due_s = self.life.exit_code, self.clock()
        self.part.pull("restart")
        away_s, start_s = self.clock() - self.since_s, self.clock() - due_s
        if code is None:
            return Proof(acted=False, did="its process did not end")
        away = f"away for {away_s:.1f} s, {start_s:.1f} s of them its start"
        return Proof(acted=True, did=f"it ended with {_ending(code)}, and was started again: {away}")


def _ending(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}"
