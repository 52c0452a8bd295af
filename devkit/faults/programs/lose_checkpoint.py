"""`lose_checkpoint: {}`: the main program is killed, and its checkpoint is deleted."""

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import ClassVar

import psutil
from typing_extensions import override

from devkit.errors import StackError
from devkit.faults.fault import Acting, Context, Fault, Need, Proof, Undo
from devkit.guardian.processes import is_alive
from devkit.observe.checkpoint import Checkpoint
from devkit.waiting import wait_until
from located_config.count import counted

_GONE = timedelta(seconds=30)


class LoseCheckpoint(Fault):
    """What runs of it stands still until all is deleted, and is killed then: it writes nothing in between, and its
    supervisor starts it again after the loss. What it emitted stays.
    """

    name: ClassVar[str] = "lose_checkpoint"
    summary: ClassVar[str] = "the program is killed and its checkpoint deleted; cannot be undone"
    example: ClassVar[str] = "{}"
    lasts: ClassVar[bool] = False

    @override
    def needs(self) -> tuple[Need, ...]:
        return (Need("object-store"),)

    @override
    def begin(self, context: Context) -> Acting:
        if context.main is None:
            raise StackError("there is no arm whose checkpoint could be lost", hint="write it into a `timeline`")
        context.plan(Undo(irreversible="the checkpoint is gone", outlives_run=context.is_guest))
        stopped = _apply(context.main.tree(), psutil.Process.suspend)
        try:
            deleted = _delete_all(context.main.checkpoint)
        except StackError:
            _apply(stopped, psutil.Process.resume)
            raise
        _apply(stopped, psutil.Process.kill)
        wait_until(lambda: not any(map(is_alive, stopped)), what="the program to end", deadline=_GONE)
        # A request that was under way when the program stood still may have come to the store since.
        return _Lost(deleted + _delete_all(context.main.checkpoint), stopped)


def _apply(processes: Sequence[psutil.Process], act: Callable[[psutil.Process], None]) -> list[psutil.Process]:
    """Returns the processes that had not ended, to which it was done."""
    living = []
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            act(process)
            living.append(process)
    return living


def _delete_all(checkpoint: Checkpoint) -> int:
    deleted: list[int] = []

    def is_empty() -> bool:
        deleted.append(checkpoint.delete())
        return not deleted[-1]

    wait_until(is_empty, what="the checkpoint to be empty", deadline=_GONE)
    return sum(deleted)


@dataclass(frozen=True)
class _Lost:
    deleted: int
    killed: Sequence[psutil.Process]

    def end(self) -> Proof:
        """The supervisor may have started the program again by now, which then makes another checkpoint."""
        ids = ", ".join(str(process.pid) for process in self.killed)
        who = f"killed {ids}" if ids else "no process of the program ran"
        return Proof(self.deleted > 0, f"{who}; deleted {counted(self.deleted, 'object')}, and none was left")
