"""Source offsets that a program read again. They excuse further records of an event: repeats, contradictions.

event                                            may be emitted once more for each
of a batch                                       restart of the batch
that was deferred                                start that found it unresolved; each restart without epoch markers
any, where batches are not observable            restart
that a retried task read                         attempt of the task before the last

A job with state writes outputs of several batches. There the batch is found by time: a record that landed while a batch
was at work is of that batch, and may be emitted once more for each restart of it and each attempt of its retried tasks.
"""

from bisect import bisect_right
from dataclasses import dataclass
from heapq import nlargest

from devkit.observe.checkpoint import OffsetRange, SourcePartition


@dataclass(frozen=True)
class Excused:
    """How many records after the first are no problem, of one event, by their cause: of repeats, and of contradictions
    (an error event beside an output).
    """

    by_restart: int = 0
    by_retry: int = 0
    repeats_by_restart: int = 0
    repeats_by_retry: int = 0

    @property
    def most(self) -> int:
        """Of contradictions, by restart and retry."""
        return self.by_restart + self.by_retry

    @property
    def repeats(self) -> int:
        """Of repeats, by restart and retry."""
        return self.repeats_by_restart + self.repeats_by_retry


@dataclass(frozen=True)
class BatchBegin:
    """A batch was begun, for the first time or again. No record of that attempt is older; None where the program does
    not say when it was, else in milliseconds since the epoch.
    """

    batch: int
    at_ms: int | None = None


@dataclass(frozen=True)
class RetriedTask:
    """A task of Spark that had this many attempts before the one that ended, and what it read; the batch is None in a
    round of the slow lane.
    """

    read: tuple[OffsetRange, ...]
    attempts: int = 1
    batch: int | None = None

    def holds(self, partition: SourcePartition, offset: int) -> bool:
        """Whether it has read the event at this place."""
        return any(offsets.holds(partition, offset) for offsets in self.read)

    def reaches(self, partition: SourcePartition, offset: int) -> bool:
        """Whether it has read the event at this place, or one behind it."""
        return any(offsets.reaches(partition, offset) for offsets in self.read)


@dataclass(frozen=True)
class Replays:
    """`again` has the range of a batch once for each time that it was begun again; None where that is not observable.
    Without `restarts` it excuses nothing. `begun` has each batch as often as it was begun, in order.

    `by_state` is whether outputs are made of what a state has gathered.
    """

    restarts: int = 0
    again: tuple[OffsetRange, ...] | None = ()
    retried: tuple[RetriedTask, ...] = ()
    begun: tuple[BatchBegin, ...] = ()
    by_state: bool = False

    def excused(
        self, partition: SourcePartition, offset: int, *, takeovers: int | None, emitted_ms: int | None = None
    ) -> Excused:
        """How many records after the first are no problem, of the event at this place of the source. `takeovers` is
        how many starts found it deferred; None where that is not known. `emitted_ms` is when its first record landed,
        in milliseconds since the epoch.
        """
        by_retry = sum(task.attempts for task in self.retried if task.holds(partition, offset))
        if self.again is None:
            return Excused(self.restarts, by_retry, self.restarts, by_retry)
        read_again = sum(batch.holds(partition, offset) for batch in self.again)
        taken_over = self.restarts if takeovers is None else min(takeovers, self.restarts)
        by_restart = min(read_again, self.restarts) + taken_over
        if not self.by_state:
            return Excused(by_restart, by_retry, by_restart, by_retry)
        if emitted_ms is None or not self.begun or any(begin.at_ms is None for begin in self.begun):
            behind, of_tasks = self._behind(partition, offset)
        else:
            behind, of_tasks = self._of_batch_at(emitted_ms)
        return Excused(by_restart, by_retry, min(behind, self.restarts) + taken_over, of_tasks)

    def _of_batch_at(self, at_ms: int) -> tuple[int, int]:
        """How often the batch that was at work was begun again, and how many attempts its tasks had before the ones
        that ended. One task writes a record, each time that the batch is begun: of several those with the most attempts
        count.

        Not only what was begun later counts: where a job takes over, two attempts of a batch overlap.
        """
        begun = sorted((begin.at_ms or 0, begin.batch) for begin in self.begun)
        index = bisect_right(begun, at_ms, key=lambda begin: begin[0])
        if index == 0:
            return 0, 0
        batch = begun[index - 1][1]
        again = sum(number == batch for _, number in begun) - 1
        attempts = (task.attempts for task in self.retried if task.batch in (None, batch))
        return again, sum(nlargest(again + 1, attempts))

    def _behind(self, partition: SourcePartition, offset: int) -> tuple[int, int]:
        """By the batches and tasks that read the event, or what lies behind it."""
        behind = sum(batch.reaches(partition, offset) for batch in self.again or ())
        return behind, sum(task.attempts for task in self.retried if task.reaches(partition, offset))


NO_REPLAYS = Replays()
