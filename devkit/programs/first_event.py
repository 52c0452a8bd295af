"""Waiting for a program that logs events to say that it has come up."""

import contextlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

from devkit.errors import StackError
from devkit.guardian import ManagedProcess
from devkit.observe.logs.log_end import written
from devkit.observe.logs.logs import LineTail
from devkit.programs.program_end import require_programs_running
from devkit.waiting import wait_until

# Three jobs at once take a minute on two busy cores.
_READY = timedelta(minutes=5)

T = TypeVar("T")


def await_first_event(
    process: ManagedProcess,
    read: Callable[[object], T | None],
    *,
    what: str,
    other_programs: Sequence[ManagedProcess] = (),
) -> T:
    """What `read` makes of the first event that it does not make None of. Without one the process is killed, and
    StackError raised; also when one of `other_programs`, which feed it, has ended.
    """
    tail = LineTail(process.stdout)

    def first() -> T | None:
        require_programs_running((process, *other_programs))
        return next((value for event in tail.new_events() if (value := read(event)) is not None), None)

    try:
        return wait_until(
            first, what=what, deadline=_READY, hint=f"its log is {written(process.stdout, process.stderr)}"
        )
    except BaseException:
        with contextlib.suppress(StackError):  # the guardian may be what is gone
            process.kill_tree()
        raise
