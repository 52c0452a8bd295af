"""Which processes of the programs under test a fault acts on."""

from collections.abc import Sequence

import psutil
from pydantic import Field

from devkit.errors import StackError
from devkit.faults.fault import Context, Fault
from devkit.programs.role import Role


class ProcessFault(Fault):
    """A fault of processes of one role."""

    process: Role = Field(description="Role of the process: Spark's driver, an executor or a Python worker.")
    program: str | None = Field(
        default=None,
        description="Name of the program below `programs` whose process it is. Default: any program.",
        examples=["apply"],
    )
    every: bool = Field(default=False, description="Whether it acts on every process of that role, or on one of them.")

    def select(self, context: Context) -> Sequence[psutil.Process]:
        """The oldest process of the role, or every one of it. Raises StackError when there is none."""
        processes = sorted(
            context.processes(self.process, self.program), key=lambda process: (process.create_time(), process.pid)
        )
        if not processes:
            whose = f"the program {self.program}" if self.program else "a program under test"
            raise StackError(
                f"no {self.process} process of {whose} runs", hint="let the fault begin `when: program running`"
            )
        return processes if self.every else processes[:1]
