"""Where the next micro-batch ends: at one event time, the horizon, in all partitions of all topics.

    dense   ──■■■■■■■■■■│■■■■■■■■■■■■■■■■■
    sparse  ──■─────────│──■──────■───────      behind the horizon a partition waits, however many records it has
    bursty  ────────────│───────■■■■■■■■■■
                     horizon

Spark has one watermark over all partitions, which the furthest of them moves. A batch that is shared by the number of
records takes a burst to its end, and the dense partition's records are late before they are read. With one horizon for
all, nothing that the topics hold now is late.

The horizon lies `slice_ms` behind the earliest record that waits, and nearer where that would be more than
`max_offsets`. While a backlog is read slowly, the slice grows (`GrowingSlice`). The horizon does not pass the newest
record of a partition either, as the next one of that may be only a little later: such a partition holds the others back
until it has been silent for long enough (`SilenceWatch`). Times are event times in milliseconds since the epoch, and a
horizon is the first that the batch does not take.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Literal, Protocol

from pipeline.records.record import SourcePartition

Offsets = Mapping[SourcePartition, int]
EndedBy = Literal["end", "slice", "max_offsets", "partition"]
"""What ended a batch: the end of the topics, a bound, or a silent partition that holds the others back."""
# Each guess is a question to the brokers, and a batch that is a quarter below its bound is as good.
_FULL_ENOUGH = 0.75
# Seconds of events that are read in a second: a day's stop is read in five hours, or as `max_offsets` lets it.
_SPEED = 5
_LONGEST_MS = 24 * 60 * 60 * 1000


@dataclass(frozen=True, slots=True)
class Front:
    """A partition between what was read and its end: `position` is the next offset to be read, and `end` is behind the
    last that can be.

    `next_ms` is the time of the first record that waits, None when none does: offsets alone may be left by transactions
    and compaction. `idle` says that the partition has been silent for long enough to hold nothing back.
    """

    position: int
    end: int
    next_ms: int | None
    idle: bool = False


@dataclass
class GrowingSlice:
    """The slice of the next batch: `slice_ms`, and more while a bound ends one batch after the other. Then it is at
    least `_SPEED` times what the last one took, however few rows a batch has: a job whose batches take longer than
    their slice would fall behind for ever.
    """

    slice_ms: int
    _bound_at_s: float | None = None

    def next_ms(self, now_s: float) -> int:
        """For a plan at `now_s`, by a clock that is never set back."""
        if self._bound_at_s is None:
            return self.slice_ms
        return max(self.slice_ms, min(round((now_s - self._bound_at_s) * 1000 * _SPEED), _LONGEST_MS))

    def planned(self, plan: "BatchPlan", now_s: float) -> None:
        """The batch begins now."""
        self._bound_at_s = now_s if plan.ended_by in ("slice", "max_offsets") else None


class EventTimes(Protocol):
    """Event times in the topics, for the partitions whose fronts are planned."""

    def ends_before(self, at_ms: int) -> Offsets:
        """For each partition with a waiting record, the offset of the first record at or after `at_ms`; the partition's
        end when there is none.
        """

    def newest_ms(self, partition: SourcePartition) -> int | None:
        """The latest time in a partition up to its end, as far as is known; None when it has never had a record."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """The end of a batch in each partition, and its horizon; None when it takes no record.

    `holding` are the silent partitions that end the batch early; none when something else ends it.
    """

    ends: Offsets
    horizon_ms: int | None
    holding: Collection[SourcePartition] = ()
    ended_by: EndedBy = "end"


def plan_batch(
    fronts: Mapping[SourcePartition, Front],
    reached_ms: int | None,
    times: EventTimes,
    *,
    slice_ms: int,
    max_offsets: int | None,
) -> BatchPlan:
    """`reached_ms` is the latest time that was read before, None before anything was. A record below it is late: it
    is taken as it comes, and moves no horizon back. `max_offsets` None is without a bound.
    """
    waiting = {partition: front for partition, front in fronts.items() if front.next_ms is not None}
    # Offsets without a record cost nothing and have no time.
    ends = {partition: front.position if partition in waiting else front.end for partition, front in fronts.items()}
    if not waiting:
        return BatchPlan(ends, None)
    first_ms = max(min(front.next_ms for front in waiting.values() if front.next_ms is not None), reached_ms or 0)
    horizon, holding = _held_back(fronts, reached_ms, times, first_ms + slice_ms)
    if horizon is None:
        return BatchPlan(ends, None, holding, "partition")
    cut = _within(waiting, times, min(first_ms + 1, horizon), horizon, max_offsets)
    is_bound = False
    if cut is None:
        least_ms = min(first_ms + 1, horizon)
        cut = least_ms, _shared(waiting, times.ends_before(least_ms), least_ms, max_offsets or 0)
        is_bound = True
    limit, (horizon, of_waiting) = horizon, cut
    is_bound |= horizon < limit
    # A bound that ends the batch sooner is no fault of theirs.
    holding = holding if horizon == limit else []
    ended_by: EndedBy = "max_offsets" if is_bound else "partition" if holding else "slice"
    if all(end == waiting[partition].end for partition, end in of_waiting.items()):
        ended_by = "end"
    if all(end == waiting[partition].position for partition, end in of_waiting.items()):
        return BatchPlan(ends, None, holding, ended_by)
    return BatchPlan({**ends, **of_waiting}, horizon, holding, ended_by)


def _held_back(
    fronts: Mapping[SourcePartition, Front], reached_ms: int | None, times: EventTimes, horizon: int
) -> tuple[int | None, list[SourcePartition]]:
    """How far the horizon may go, None for nowhere, and who keeps it from going further."""
    ends = times.ends_before(horizon)
    limit_of: dict[SourcePartition, int | None] = {}
    for partition, front in fronts.items():
        if front.idle or ends.get(partition, front.end) < front.end:
            continue
        known_ms = [time_ms for time_ms in (times.newest_ms(partition), front.next_ms) if time_ms is not None]
        limit_of[partition] = max(*known_ms, reached_ms or 0) + 1 if known_ms else None
    # Of a partition that has never had a record nothing is known: its first may be as early as any.
    if None in limit_of.values():
        return None, sorted(partition for partition, limit in limit_of.items() if limit is None)
    limits = {partition: limit for partition, limit in limit_of.items() if limit is not None and limit < horizon}
    lowest = min(limits.values(), default=horizon)
    return lowest, sorted(partition for partition, limit in limits.items() if limit == lowest)


def _within(
    waiting: Mapping[SourcePartition, Front], times: EventTimes, least: int, horizon: int, max_offsets: int | None
) -> tuple[int, Offsets] | None:
    """The latest of the horizons looked at that takes no more than `max_offsets`, from `least` on; None when even that
    takes more.
    """
    ends = times.ends_before(horizon)
    if max_offsets is None or (count := _count(waiting, ends)) <= max_offsets:
        return horizon, ends
    best: tuple[int, Offsets] | None = None
    low, high = least, horizon
    while low < high:
        middle = (low + high) // 2
        # Where an even rate would have it; but each guess halves what is left, however uneven the rate is.
        guess = middle if best else min(middle, low + int((high - low) * max_offsets / count))
        ends = times.ends_before(guess)
        size = _count(waiting, ends)
        if size > max_offsets:
            high, count = guess, size
        else:
            best, low = (guess, ends), guess + 1
            if size >= _FULL_ENOUGH * max_offsets:
                break
    return best


def _shared(waiting: Mapping[SourcePartition, Front], ends: Offsets, horizon: int, max_offsets: int) -> Offsets:
    """A part of each partition's offsets below the horizon, shared evenly. All of these records are of one millisecond,
    or late: no order among partitions is left to keep.
    """
    counts = {
        partition: ends[partition] - front.position
        for partition, front in waiting.items()
        if front.next_ms is not None and front.next_ms < horizon
    }
    shares = dict.fromkeys(waiting, 0)
    remaining = max_offsets
    # The smallest first: what one does not need is there for the others.
    for place, partition in enumerate(sorted(counts, key=lambda partition: (counts[partition], partition))):
        share = max(1, remaining // (len(counts) - place)) if remaining else 0
        shares[partition] = min(counts[partition], share)
        remaining -= shares[partition]
    return {partition: front.position + shares[partition] for partition, front in waiting.items()}


def _count(waiting: Mapping[SourcePartition, Front], ends: Offsets) -> int:
    return sum(ends[partition] - front.position for partition, front in waiting.items())


def share_offsets(starts: Offsets, ends: Offsets, max_offsets: int | None) -> Offsets:
    """The ends of a batch that begins at `starts`. Offsets are shared by the number of waiting records, as Spark's
    Kafka source does it; each partition with new records gets at least one. `max_offsets` None means no bound.
    """
    waiting = {partition: max(0, ends[partition] - start) for partition, start in starts.items()}
    total = sum(waiting.values())
    if max_offsets is None or total <= max_offsets:
        return {partition: start + waiting[partition] for partition, start in starts.items()}
    return {
        partition: start + (max(1, max_offsets * waiting[partition] // total) if waiting[partition] else 0)
        for partition, start in starts.items()
    }
