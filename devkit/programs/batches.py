"""Counts which batches were planned, and which were planned again."""

from collections import Counter
from collections.abc import Callable

from devkit.observe.audit.replays import BatchBegin
from devkit.observe.checkpoint import OffsetRange


class PlannedBatches:
    """Fed with the number of each batch that a pipeline process begins."""

    def __init__(self) -> None:
        self._begun: Counter[int] = Counter()
        self._begins: list[BatchBegin] = []
        self._any, self._replays = False, 0

    def begin(self, batch: int, at_ms: int | None = None) -> bool:
        """Note a batch, and when that was, in milliseconds since the epoch; True when it was begun before."""
        self._begins.append(BatchBegin(batch, at_ms))
        self._begun[batch] += 1
        self._any = True
        return self._begun[batch] > 1

    @property
    def any_begun(self) -> bool:
        """False to the end for a program that writes no `batch_started` line."""
        return self._any

    def begin_anew(self) -> None:
        """The program has another checkpoint from now on, and its batches another numbering: none of the next is one of
        before again.
        """
        self._replays = self.replays
        self._begun.clear()
        self._begins.clear()

    @property
    def begun(self) -> tuple[BatchBegin, ...]:
        """Each batch of the present checkpoint as often as it was begun, in order."""
        return tuple(self._begins)

    @property
    def next(self) -> int:
        """The number after the highest that was begun."""
        return max(self._begun, default=-1) + 1

    @property
    def replays(self) -> int:
        """How often the batch repeated most was begun again."""
        return max(self._replays, max(self._begun.values(), default=1) - 1)

    def replayed_ranges(self, range_of: Callable[[int], OffsetRange]) -> tuple[OffsetRange, ...]:
        """The range of each batch of the present checkpoint that was begun again, once for each time."""
        repeated = ((range_of(batch), times - 1) for batch, times in self._begun.items() if times > 1)
        return tuple(offsets for offsets, times in repeated for _ in range(times))

    def replayed_offsets(self, range_of: Callable[[int], OffsetRange]) -> int:
        """Source offsets planned again, each as often as it was."""
        return sum(offsets.size for offsets in self.replayed_ranges(range_of))
