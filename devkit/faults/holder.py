"""Holds a fault on a stack that is up: `python -m devkit.faults.holder RUN_ID`, with the timeline item on its input.

It goes on after the command that started it, renews the fault's lease, ends the fault when its time is over, when
SIGTERM says so, or when the stack is gone; if it is killed, the guardian undoes the fault. It first prints one
line with its status: {"phase": "waiting" | "acting" | "over" | "refused", "text": …}.
"""

import contextlib
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Literal

from pydantic import BaseModel, ConfigDict

from devkit.errors import DevkitError
from devkit.extensions import load_extensions
from devkit.faults.attached_part import attached_parts
from devkit.faults.fault import Context, Undo
from devkit.faults.journal import Journal
from devkit.faults.kafka.cluster import cluster_id
from devkit.faults.refused_fault import RefusedFaults
from devkit.faults.runner import Phase, Runner
from devkit.faults.timeline_item import TimelineItem
from devkit.guardian.run_state import RunState, known_runs
from devkit.stack.parts.event_bus import EVENT_BUS

_LOOK_S = 0.2


class HolderStatus(BaseModel):
    """The line that the holder prints first."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: Literal["waiting", "acting", "over", "refused"]
    text: str = ""


class Holder:
    """Holds one item; its `at` counts from now."""

    def __init__(self, run: RunState, item: TimelineItem) -> None:
        self._run, self._item = run, item
        self._ended = threading.Event()
        self._has_reported = self._has_acted = False
        self._journal = Journal(run.run_id)
        began = time.monotonic()
        self._runner = Runner(
            [item],
            journal=self._journal,
            context=self._context,
            excuse=lambda _part: contextlib.nullcontext(),
            clock=lambda: time.monotonic() - began,
            report=lambda _happened: None,
            holder=os.getpid(),
        )

    def hold(self) -> None:
        """Until the fault is over. Raises DevkitError when it could not be ended."""
        signal.signal(signal.SIGTERM, lambda _number, _frame: self._ended.set())
        ready = None
        if self._item.at:
            ready = self._journal.open(self._item.name, self._item.do, holder=os.getpid(), waits=True)
            _print_status(HolderStatus(phase="waiting"))
        self._runner.start()
        try:
            while not self._has_to_end():
                self._has_acted |= self._phase == "acting"
                if ready is not None and self._phase == "waiting":
                    ready.renew()
                    continue
                if ready is not None:
                    ready.close()
                    ready = None
                elif self._phase in ("acting", "over"):
                    self._report_once()
        finally:
            if ready is not None:
                ready.close()
            self._runner.end()
            self._report_once()
            self._note_refusal()

    @property
    def _phase(self) -> Phase:
        return self._runner.phases[0]

    def _has_to_end(self) -> bool:
        return self._phase == "over" or self._ended.wait(_LOOK_S) or not self._run.guardian_is_alive()

    def _report_once(self) -> None:
        if not self._has_reported:
            self._has_reported = True
            _print_status(self._status())

    def _note_refusal(self) -> None:
        """For a fault that waited: no command listens for it any more."""
        (happened,) = self._runner.happened
        if self._item.at and happened.from_s is not None and not (happened.acted or self._has_acted):
            RefusedFaults(self._run.directory).note(self._item.name, self._item.do, happened.did)

    def _status(self) -> HolderStatus:
        if self._phase != "over":
            return HolderStatus(phase="acting")
        (happened,) = self._runner.happened
        return HolderStatus(phase="over" if happened.acted else "refused", text=happened.did)

    def _context(self, plan: Callable[[Undo], None]) -> Context:
        run = self._run
        kafka = run.addresses.get("kafka direct", run.addresses["kafka"])
        return Context(
            attached_parts(run),
            kafka,
            plan,
            cluster_id=partial(cluster_id, kafka),
            run_id=run.run_id,
            is_guest=all(
                place.pid is None and place.container is None for place in run.parts if place.name != EVENT_BUS
            ),
        )


def _print_status(status: HolderStatus) -> None:
    """The client that asked may be gone by now."""
    with contextlib.suppress(OSError):
        sys.stdout.write(status.model_dump_json() + "\n")
        sys.stdout.flush()


def main() -> None:
    """Hold one fault: argument the run's id, standard input the timeline item as JSON. Exit 3 when it is refused."""
    load_extensions()
    item = TimelineItem.model_validate_json(sys.stdin.read())
    run = next(run for run in known_runs() if run.run_id == sys.argv[1])
    try:
        Holder(run, item).hold()
    except DevkitError as error:
        _print_status(HolderStatus(phase="refused", text=str(error)))
        sys.exit(3)


if __name__ == "__main__":
    main()
