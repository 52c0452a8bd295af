"""Partitions in memory, as the planner asks for them: whole topics, of which a part has been read."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from pipeline.aligned.horizon import BatchPlan, Front, Offsets, plan_batch
from pipeline.records.record import SourcePartition


@dataclass
class PlannedLog:
    """`times` are the event times of each partition's records, by offset; None is an offset without a record."""

    times: dict[SourcePartition, list[int | None]]
    positions: dict[SourcePartition, int] = field(default_factory=dict)
    idle: frozenset[SourcePartition] = frozenset()
    asked: int = 0

    def __post_init__(self) -> None:
        self.positions = {one: self.positions.get(one, 0) for one in self.times}

    @classmethod
    def of(
        cls, times: Mapping[str, Iterable[int | None]], *, idle: frozenset[SourcePartition] = frozenset()
    ) -> "PlannedLog":
        """A partition 0 for each topic."""
        return cls({SourcePartition(topic, 0): list(of) for topic, of in times.items()}, idle=idle)

    def fronts(self) -> dict[SourcePartition, Front]:
        return {
            one: Front(self.positions[one], len(times), self._next(one), idle=one in self.idle)
            for one, times in self.times.items()
        }

    def reached(self) -> int | None:
        read = (time for one, times in self.times.items() for time in times[: self.positions[one]] if time is not None)
        return max(read, default=None)

    def ends_before(self, at_ms: int) -> Offsets:
        self.asked += 1
        return {one: self._first(one, at_ms) for one in self.times if self._next(one) is not None}

    def newest_ms(self, partition: SourcePartition) -> int | None:
        return max((time for time in self.times[partition] if time is not None), default=None)

    def plan(self, *, slice_ms: int = 10, max_offsets: int | None = 1000) -> BatchPlan:
        return plan_batch(self.fronts(), self.reached(), self, slice_ms=slice_ms, max_offsets=max_offsets)

    def take(self, plan: BatchPlan) -> dict[SourcePartition, range]:
        """Read a batch; which offsets it has."""
        taken = {one: range(self.positions[one], end) for one, end in plan.ends.items()}
        self.positions |= plan.ends
        return taken

    def _next(self, partition: SourcePartition) -> int | None:
        waiting = self.times[partition][self.positions[partition] :]
        return next((time for time in waiting if time is not None), None)

    def _first(self, partition: SourcePartition, at_ms: int) -> int:
        found = (
            at
            for at, time in enumerate(self.times[partition])
            if at >= self.positions[partition] and time is not None and time >= at_ms
        )
        return next(found, len(self.times[partition]))
