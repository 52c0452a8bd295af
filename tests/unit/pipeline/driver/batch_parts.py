"""What stands beside a batch in its tests: a data frame that notes what is done to it, lanes that do what the test
says, an accumulator, and a checkpoint that another start takes.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from pipeline.deferral.entry import Entry
from pipeline.deferral.fold import FencedError
from pipeline.deferral.snapshot import Fence, Snapshot
from pipeline.driver.stall import StallWatch
from pipeline.fetch.breaker import Opened
from pipeline.records.record import SourcePartition
from pipeline.worker import spark_task as task


class Accumulated:
    """An accumulator; what tasks add stands in `added`, once."""

    def __init__(self, added: list[Any]) -> None:
        self.added = added
        self._value: list[Any] = []

    @property
    def value(self) -> list[Any]:
        return self._value + self.added

    @value.setter
    def value(self, value: list[Any]) -> None:
        self._value = value


class OwnedUntil:
    """A checkpoint that a later start takes after so many looks."""

    def __init__(self, steps: list[str], looks: int) -> None:
        self._steps, self._looks = steps, looks

    def check(self) -> None:
        self._steps.append("owner")
        if not self._looks:
            raise FencedError("another start of this job has taken the checkpoint over")
        self._looks -= 1


@dataclass
class Frame:
    """Partitions of the source, and slots of Spark."""

    partitions: int = 2
    slots: int = 4
    done: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def rdd(self) -> Any:
        return SimpleNamespace(getNumPartitions=lambda: self.partitions)

    @property
    def sparkSession(self) -> Any:  # noqa: N802 — Spark's name
        return SimpleNamespace(sparkContext=SimpleNamespace(defaultParallelism=self.slots))

    def select(self, *columns: str) -> "Frame":
        assert columns == task.SOURCE_COLUMNS
        return self

    def coalesce(self, tasks: int) -> "Frame":
        self.done.append(("coalesce", tasks))
        return self

    def unionByName(self, other: list[Entry], *, allowMissingColumns: bool) -> "Frame":  # noqa: N802, N803
        assert allowMissingColumns, "an entry has no horizon"
        self.done.append(("union", [one.position.offset for one in other]))
        return self

    def repartition(self, *by: Any) -> "Frame":
        self.done.append(("repartition", *by))
        return self

    def sortWithinPartitions(self, *by: str) -> "Frame":  # noqa: N802
        self.done.append(("sort", *by))
        return self

    def persist(self, level: Any) -> "Frame":
        assert level.useMemory
        assert level.useDisk
        self.done.append(("persist",))
        return self

    def unpersist(self) -> None:
        self.done.append(("unpersist",))

    def mapInArrow(self, function: Any, _schema: str) -> Any:  # noqa: N802
        return function


class Rows(list[Entry]):
    def select(self, *_columns: str) -> "Rows":
        return self


@dataclass
class Lanes:
    """Claims what it is given; `steps` are shared with the sink."""

    steps: list[str]
    reservations: Sequence[Entry] = ()
    failure: Exception | None = None
    written_failure: Exception | None = None
    deferred: int = 0
    plan_failure: Exception | None = None
    epoch: int = 5
    limit_bytes: int = 777
    watch: StallWatch | None = None
    opened: Sequence[Opened] = ()
    unhealthy: frozenset[str] = frozenset()
    tasks: Set[int] = frozenset()
    ends: Mapping[SourcePartition, int] = field(default_factory=dict)

    def plan(self, number: int) -> Snapshot:
        assert self.watch is not None
        assert self.watch.batch is None, "the wait for room is not the batch's"
        self.steps.append(f"plan {number}")
        if self.plan_failure:
            raise self.plan_failure
        return Snapshot(Fence({}, frozenset(), {}), tuple(self.reservations), self.unhealthy)

    def written(
        self, snapshot: Snapshot, number: int, tasks: Set[int], opened: Sequence[Opened] = (), *, deferred: int
    ) -> None:
        self.deferred = deferred
        self.steps.append(f"written {number}")
        self.tasks, self.opened = tasks, opened
        if self.written_failure:
            raise self.written_failure

    def check(self) -> None:
        if self.failure:
            raise self.failure

    def committed(self, ends: Mapping[SourcePartition, int]) -> None:
        self.ends = ends

    @property
    def rounds(self) -> int:
        return 2

    def stop(self) -> None:
        self.steps.append("lanes stopped")
