"""The observed state of a program while its arm is played."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from devkit.observe.audit.replays import RetriedTask
from devkit.observe.checkpoint import OffsetRange, Offsets
from devkit.observe.kafka.emitted import Emitted
from devkit.observe.logs.first_errors import FirstComplaints
from devkit.observe.time_series import Point
from devkit.programs.batches import PlannedBatches
from pipeline.events import TaskRetried


@dataclass
class ProgramState:
    """`process` is the number of the process that runs and is ready, `processes` that of the newest one.
    `has_run` stays true once its query ran. `retried` has each retried task of Spark.

    The newest serves metrics at `metrics_url`. `log` counts the events that it wrote by name. `committed` is what the
    checkpoint shows, `furthest` the furthest that one ever showed; `emitted` stands in where it shows nothing.
    `confirmed` is the effective configuration that its newest process logged, `spark` are the settings of its
    Spark. `commits` has what each commit took, in seconds, by when it was reported, and `batch_times` what each
    batch did, by when it was written. `written` counts the batches of the newest query, None before one began, and
    `written_by_process` has them of each process that ended by itself, by its end. `batch_began_s` is when the batch at
    work began, None where none is, and `is_warm` whether its process has written one before; `warm_batches` has what
    all those did that had, up to the end of the process where they were not written. `late_dropped` counts the rows
    that Spark dropped behind its watermark, None where it reported no state; `watermarks` are in seconds since the
    epoch. Batches before `first_batch` belong to a warm-up. `stated_offsets` are the fields of its newest event
    `committed_offsets`.
    """

    batches: PlannedBatches = field(default_factory=PlannedBatches)
    retried: list[RetriedTask] = field(default_factory=list)
    process: int | None = None
    processes: int = 1
    has_words: bool = False
    has_run: bool = False
    log: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    stalls: list[str] = field(default_factory=list)
    complaints: FirstComplaints = field(default_factory=FirstComplaints)
    metrics_url: str | None = None
    committed: Offsets = field(default_factory=dict)
    furthest: Offsets = field(default_factory=dict)
    source_ends: Offsets = field(default_factory=dict)
    drained: bool = False
    commits: list[Point] = field(default_factory=list)
    batch_times: list[Point] = field(default_factory=list)
    written: int | None = None
    written_by_process: list[Point] = field(default_factory=list)
    batch_began_s: float | None = None
    is_warm: bool = False
    warm_batches: list[Point] = field(default_factory=list)
    late_dropped: int | None = None
    watermarks: list[Point] = field(default_factory=list)
    emitted: Emitted | None = None
    confirmed: Mapping[str, Any] | None = None
    spark: Mapping[str, Any] | None = None
    first_batch: int = 0
    stated_offsets: Mapping[str, Any] | None = None

    def count_batches_from_now(self) -> None:
        """What the batches up to now took does not count."""
        self.first_batch = self.batches.next
        for series in (self.batch_times, self.warm_batches, self.commits):
            series.clear()


def retried_task(event: TaskRetried) -> RetriedTask:
    """A retried task of Spark, with each range that it read."""
    ranges = tuple(
        OffsetRange({(read.topic, read.partition): read.first}, {(read.topic, read.partition): read.end})
        for read in event.read
    )
    return RetriedTask(ranges, event.attempts, event.batch)
