"""`restart: {part: kafka}`: a part is ended in order and started again at once."""

from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from devkit.faults.fault import Acting, Context, Need, Proof
from devkit.faults.parts.restarting_fault import RestartingFault
from devkit.stack.parts.part_life import Life


class Restart(RestartingFault):
    """It gets SIGTERM and the time to close its files; it lasts as long as that and the new start take."""

    name: ClassVar[str] = "restart"
    summary: ClassVar[str] = "a part is ended by SIGTERM and started again with its data"
    example: ClassVar[str] = "{part: kafka}"
    lasts: ClassVar[bool] = False

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need(self.part, "restart"),)

    @override
    def begin(self, context: Context) -> Acting:
        part, before = context.parts[self.part], context.parts[self.part].life
        self.plan_start(context)
        part.pull("restart")
        return _Restarted(before, part.life)


@dataclass(frozen=True)
class _Restarted:
    before: Life
    now: Life

    def end(self) -> Proof:
        code = self.before.exit_code
        if code is None or self.now is self.before:
            return Proof(acted=False, did="the process of before still runs")
        return Proof(acted=True, did=f"the process of before ended with code {code}, and a new one answers")
