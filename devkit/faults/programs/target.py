"""Which processes of the programs under test a fault acts on."""

from collections.abc import Sequence

import psutil

from devkit.errors import StackError
from devkit.faults.fault import Context
from devkit.programs.program import Role


def select_processes(context: Context, role: Role, *, every: bool) -> Sequence[psutil.Process]:
    """The oldest process of the role, or `every` one of it. Raises StackError when there is none."""
    processes = sorted(context.processes(role), key=lambda process: (process.create_time(), process.pid))
    if not processes:
        raise StackError(
            f"no {role} process of a program under test runs",
            hint="let the fault begin `when: program running`",
        )
    return processes if every else processes[:1]
