"""Says which partition holds a batch of the aligned source, whom it keeps waiting, and which are taken as idle.

A partition may hold the others back for `source.idle_after` each time that it falls silent: that is how it is read, and
not worth a line. So only what lasts is said, and seldom.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime

from pipeline import log
from pipeline.aligned.plan_status import PartitionStatus, PlanStatus
from pipeline.events import BatchStarted, Event, EventTimeFreed, EventTimeHeld, PartitionsIdle

_LASTS_S = 10.0
_HELD_EVERY_S = 60.0
_IDLE_EVERY_S = 600.0
_NAMED = 20


@dataclass
class EventTimeWatch:
    """`status` is that of the last plan, None while there is none."""

    status: Callable[[], PlanStatus | None]
    emit: Callable[[Event], None] = log.emit
    clock: Callable[[], float] = time.monotonic
    _seen_at: float | None = None
    _held_said: float | None = None
    _longest_s: float = 0.0
    _is_held: bool = False
    _idle: frozenset[str] = frozenset()
    _idle_said: float | None = None

    def look(self) -> None:
        """Look once at what was planned since the last look."""
        status = self.status()
        if status is None or status.at_s == self._seen_at:
            return
        self._seen_at = status.at_s
        self._look_at_held(status)
        self._look_at_idle(status)

    def _look_at_held(self, status: PlanStatus) -> None:
        slowest = max(status.partitions, key=lambda partition: partition.held_s, default=None)
        if slowest is None or slowest.held_s == 0:
            if self._is_held:
                self.emit(EventTimeFreed(seconds=round(self._longest_s, 1)))
            self._is_held, self._longest_s = False, 0.0
            return
        self._longest_s = max(self._longest_s, slowest.held_s)
        if slowest.held_s >= _LASTS_S and self._is_due(self._held_said, _HELD_EVERY_S):
            self._is_held, self._held_said = True, self.clock()
            self.emit(_held(status, slowest))

    def _look_at_idle(self, status: PlanStatus) -> None:
        idle = [_name(partition) for partition in status.partitions if partition.idle]
        if frozenset(idle) != self._idle and self._is_due(self._idle_said, _IDLE_EVERY_S):
            self._idle, self._idle_said = frozenset(idle), self.clock()
            self.emit(PartitionsIdle(partitions=tuple(idle[:_NAMED]), number=len(idle), of=len(status.partitions)))

    def _is_due(self, last_s: float | None, every_s: float) -> bool:
        return last_s is None or self.clock() - last_s >= every_s


def batch_started(number: int, reserved: int, began_ms: int, status: PlanStatus | None) -> BatchStarted:
    """`status` is that of the batch's own plan, None where no planner has planned it in this process."""
    return BatchStarted(
        batch=number,
        reserved=reserved,
        began_ms=began_ms,
        slice_s=status.slice_ms / 1000 if status and status.slice_ms else None,
        ended_by=status.ended_by if status else None,
    )


def _held(status: PlanStatus, slowest: PartitionStatus) -> EventTimeHeld:
    held = (_name(partition) for partition in status.partitions if partition.held_s and partition is not slowest)
    waiting = sorted(
        (
            (partition.waiting_ms, _name(partition))
            for partition in status.partitions
            if partition.waiting_ms is not None
        ),
        reverse=True,
    )
    common = status.common_ms
    return EventTimeHeld(
        by=_name(slowest),
        seconds=round(slowest.held_s, 1),
        silent_s=round(slowest.silent_s, 1),
        read_to=_time(slowest.read_ms),
        common=_time(common),
        also=tuple(held)[:_NAMED],
        # Before anything was read nothing is common: then the earliest that waits counts as that.
        waiting={
            name: (time_ms - (waiting[-1][0] if common is None else common)) / 1000
            for time_ms, name in waiting[:_NAMED]
        },
        idle=tuple(_name(partition) for partition in status.partitions if partition.idle)[:_NAMED],
    )


def _name(partition: PartitionStatus) -> str:
    return f"{partition.topic}/{partition.partition}"


def _time(ms: int | None) -> str | None:
    """The time as the log has it. A producer may send a timestamp that is no date."""
    if ms is None:
        return None
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds")
    except (OverflowError, ValueError, OSError):
        return f"{ms} ms"
