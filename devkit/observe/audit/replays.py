"""Which source offsets a program read again: what bounds the further records that are no problem, be they repeats, or
an error event beside an output.

after a restart
    an event of a batch that was begun k times      may be emitted k times
    an event of a batch before that                 as well, where outputs are made of what a state has gathered from
                                                    several batches; but never both as an output and otherwise
    an event that was deferred                      once more for each start that found it unresolved: what was cut
                                                    off before it was resolved is done again; for each restart,
                                                    where the program does not mark its starts
    any event, where batches are not observable     once more for each restart
after a retried task
    an event that the task read                     once more for each attempt before the one that ended
"""

from dataclasses import dataclass

from devkit.observe.checkpoint import OffsetRange, SourcePartition


@dataclass(frozen=True)
class Excused:
    """How many records after the first are no problem, of one event, by their cause. `of_state` more may be repeats of
    an output that was made of what a state had gathered.
    """

    by_restart: int = 0
    by_retry: int = 0
    of_state: int = 0

    @property
    def most(self) -> int:
        """By restart and retry, be they repeats or contradictions."""
        return self.by_restart + self.by_retry


@dataclass(frozen=True)
class Replays:
    """`again` has the range of a batch once for each time that it was begun again; None where that is not observable.
    Without `restarts` it excuses nothing.

    `retried` has what a task read once for each of its attempts before the one that ended. `by_state` is whether
    outputs are made of what a state has gathered.
    """

    restarts: int = 0
    again: tuple[OffsetRange, ...] | None = ()
    retried: tuple[OffsetRange, ...] = ()
    by_state: bool = False

    def excused(self, partition: SourcePartition, offset: int, *, carried_over: int | None) -> Excused:
        """How many records after the first are no problem, of the event at this place of the source. `carried_over` is
        how many starts found it deferred; None where that is not known.
        """
        by_retry = sum(one.holds(partition, offset) for one in self.retried)
        if self.again is None:
            return Excused(self.restarts, by_retry)
        read_again = sum(one.holds(partition, offset) for one in self.again)
        found = self.restarts if carried_over is None else min(carried_over, self.restarts)
        return Excused(min(read_again, self.restarts) + found, by_retry, self._of_state(partition, offset))

    def _of_state(self, partition: SourcePartition, offset: int) -> int:
        """For batches and tasks behind the one that read the event."""
        if not self.by_state:
            return 0
        behind = [
            sum(one.reaches(partition, offset) and not one.holds(partition, offset) for one in ranges)
            for ranges in (self.again or (), self.retried)
        ]
        return min(behind[0], self.restarts) + behind[1]


NO_REPLAYS = Replays()
