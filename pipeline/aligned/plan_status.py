"""How far each partition is in event time, and which of them ends a batch: what the planner's process knows, for the
driver's log and metrics.

The planner is a process of Spark's own, and says nothing by itself. It writes each plan's status into a file whose name
the driver gave it; the driver reads it when it is asked. Neither waits for the other.
"""

import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.aligned.horizon import BatchPlan, EndedBy, Front
from pipeline.records.record import SourcePartition


class PartitionStatus(BaseModel):
    """Times are event times in milliseconds since the epoch: `read_ms` is the latest of the last records that were
    read before the plan, and `waiting_ms` that of the first record which the plan lets wait; None where there is none.
    `held_s` is for how many seconds the partition has kept the others waiting, 0 when it does not.
    """

    model_config = ConfigDict(frozen=True)

    topic: str
    partition: int
    read_ms: int | None
    waiting_ms: int | None
    silent_s: float
    idle: bool
    held_s: float


class PlanStatus(BaseModel):
    """The state of one plan. `at_s` is when it was made, in seconds since the epoch. `common_ms` is the latest event
    time that was read before it, None before anything was read. `slice_ms` is how much event time it could span, and
    `ended_by` what ended it.
    """

    model_config = ConfigDict(frozen=True)

    at_s: float
    common_ms: int | None
    partitions: tuple[PartitionStatus, ...]
    slice_ms: int | None = None
    ended_by: EndedBy | None = None


@dataclass
class StatusWatch:
    """Sees each plan, and so knows for how long a partition has held the others back."""

    _since: dict[SourcePartition, float] = field(default_factory=dict)

    def look(
        self,
        plan: BatchPlan,
        fronts: Mapping[SourcePartition, Front],
        read_ms: Mapping[SourcePartition, int | None],
        common_ms: int | None,
        silent_s: Mapping[SourcePartition, float],
        now_s: float,
    ) -> PlanStatus:
        """`now_s` is by a clock that is never set back."""
        waiting = {
            partition
            for partition, front in fronts.items()
            if front.next_ms is not None and plan.ends[partition] < front.end
        }
        # Where nothing else waits, to be silent keeps no one.
        holding: Collection[SourcePartition] = plan.holding if waiting - set(plan.holding) else ()
        self._since = {partition: self._since.get(partition, now_s) for partition in holding}
        partitions = tuple(
            PartitionStatus(
                topic=partition.topic,
                partition=partition.partition,
                read_ms=read_ms[partition],
                waiting_ms=front.next_ms if plan.ends[partition] == front.position else None,
                silent_s=silent_s[partition],
                idle=front.idle,
                held_s=now_s - self._since[partition] if partition in self._since else 0.0,
            )
            for partition, front in sorted(fronts.items())
        )
        return PlanStatus(at_s=time.time(), common_ms=common_ms, partitions=partitions, ended_by=plan.ended_by)


def write_status(place: Path, status: PlanStatus) -> None:
    """Writes atomically. An error is ignored, as no batch depends on the file."""
    temporary = place.with_name(f"{place.name}.new")
    with suppress(OSError):
        temporary.write_text(status.model_dump_json(), encoding="utf-8")
        temporary.replace(place)


def read_status(place: Path) -> PlanStatus | None:
    """None while there is none that can be read."""
    try:
        return PlanStatus.model_validate_json(place.read_bytes())
    except (OSError, ValidationError):
        return None
