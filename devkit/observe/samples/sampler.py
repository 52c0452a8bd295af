"""One look at everything: upstream, topics, committed offsets, deferrals, processes."""

from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from devkit.errors import PartError
from devkit.observe.applied_offsets import FollowerOffsets
from devkit.observe.checkpoint import Offsets, of_topic
from devkit.observe.kafka.deferrals import Deferrals
from devkit.observe.samples.sample import ProgramUse, Sample
from devkit.observe.samples.usage import TreeUsage, Usage
from devkit.stack.parts.part import TRIPLE_STORE
from devkit.stack.topics import TopicEnds
from mockapi.client.journal_counts import JournalTotals


@dataclass(frozen=True)
class SampledTopics:
    """The names of the topics whose ends are looked at."""

    sources: tuple[str, ...]
    output: str
    errors: tuple[str, ...]


@dataclass(frozen=True)
class Look:
    """A sample, and the offsets of which it holds the sums; `counts` is what the upstream said."""

    sample: Sample
    committed: Offsets
    source_ends: Offsets
    counts: JournalTotals


@dataclass
class Sampler:
    """`clock` gives seconds since the arm's start. `usage` is of the main program's processes, which has a `name` where
    there are others `beside` it. `skew` is how far committed offsets are ahead of the rest in event time, in seconds,
    and `event_times` to what event time each stream is committed, in seconds since the epoch. `followers` say how far
    the programs have come that read what the main one writes, and `stopped` gives the parts that cannot be asked now.

    After a look `not_answered` has the followers that the triple store did not tell of: the sample has what it told
    last.
    """

    counts: Callable[[], JournalTotals]
    topics: SampledTopics
    ends: TopicEnds
    committed: Callable[[], Offsets]
    deferrals: Deferrals
    usage: TreeUsage
    clock: Callable[[], float]
    name: str = ""
    beside: Mapping[str, TreeUsage] = field(default_factory=dict)
    skew: Callable[[Offsets], float | None] = lambda _committed: None
    event_times: Callable[[Offsets], dict[str, float]] = lambda _committed: {}
    followers: Mapping[str, FollowerOffsets] = field(default_factory=dict)
    stopped: Callable[[], Set[str]] = frozenset
    not_answered: Set[str] = field(default=frozenset(), init=False)
    _taken: dict[str, Offsets | None] = field(default_factory=dict, init=False)
    _answers: tuple[int, ...] = field(default=(), init=False)
    _first: Offsets = field(default_factory=dict, init=False)

    def look(self, process: int | None) -> Look:
        """A look now, while the query of pipeline process `process` runs. Raises StackError."""
        counts = self.counts()
        # In this order: what is committed lies before ends that are read later, and what a committed batch deferred is
        # in the topic before its commit is.
        committed = self.committed()
        source_ends = self._ends_of(*self.topics.sources)
        deferred = self.deferrals.catch_up()
        answers = counted_since(self._answers, counts.latency.counts)
        self._answers = tuple(counts.latency.counts)
        p50, p95, p99 = (percentile(share, counts.latency.le_s, answers) for share in (0.50, 0.95, 0.99))
        usage = self.usage.look()
        sample = Sample(
            at_s=self.clock(),
            committed=self._since(committed),
            source_end=self._since(source_ends),
            outputs=self._since(self._ends_of(self.topics.output)),
            errors=self._since(self._ends_of(*self.topics.errors)),
            process=process,
            upstream_clock_s=counts.clock_s,
            answer_p50_s=p50,
            answer_p95_s=p95,
            answer_p99_s=p99,
            faults={name: rule.requests for name, rule in counts.rules.items()},
            faults_in_flight={name: rule.in_flight for name, rule in counts.rules.items() if rule.in_flight},
            deferred=deferred,
            connections_opened=counts.connections.opened,
            connections_refused=counts.connections.refused,
            partitions=self.begun(source_ends),
            partitions_read=self.begun(committed),
            source_ends=_by_partition(self._since_start(source_ends)),
            lags=_by_partition(self._lags(committed, source_ends)),
            event_time_skew_s=self.skew(committed),
            event_times=self.event_times(committed),
            waiting=self._waiting(),
            programs=self._programs(usage),
            **_by_name(counts, counts.upstream, usage),
        )
        return Look(sample, committed, source_ends, counts)

    def count_from_now(self, source: Offsets) -> None:
        """Leave out of samples what topics hold by now (of the sources up to these offsets), what the upstream has
        answered and what processes have used. Raises StackError.
        """
        self._first = source | self._ends_of(self.topics.output, *self.topics.errors)
        self._answers = ()  # the upstream has begun afresh
        for usage in (self.usage, *self.beside.values()):
            usage.look()

    def _programs(self, main: Usage) -> dict[str, ProgramUse]:
        """Empty where there is only one."""
        if not self.beside:
            return {}
        used = {self.name: main} | {name: usage.look() for name, usage in self.beside.items()}
        return {name: ProgramUse(**vars(usage)) for name, usage in used.items() if usage.processes}

    def _waiting(self) -> dict[str, int]:
        waiting, stopped = {}, self.stopped()
        self.not_answered = {name for name, one in self.followers.items() if not self._ask(name, one, stopped)}
        for name, taken in self._taken.items():
            if taken is not None:
                ends = self._ends_of(*{topic for topic, _ in taken})
                waiting[name] = sum(max(0, end - taken.get(place, 0)) for place, end in ends.items())
        return waiting

    def _ask(self, name: str, follower: FollowerOffsets, stopped: Set[str]) -> bool:
        """Whether it told how far it is. Raises StackError for other parts than the triple store."""
        if follower.part in stopped:
            return False
        try:
            self._taken[name] = follower.look()
        except PartError as error:
            if error.part != TRIPLE_STORE:
                raise
            return False
        return True

    def begun(self, offsets: Offsets) -> int:
        """Number of partitions that have come beyond where the arm found them."""
        return sum(offset > 0 for offset in self._since_start(offsets).values())

    def _lags(self, committed: Offsets, source_ends: Offsets) -> Offsets:
        return {
            partition: max(0, end - max(committed.get(partition, 0), self._first.get(partition, 0)))
            for partition, end in source_ends.items()
        }

    def _ends_of(self, *topics: str) -> Offsets:
        ends: Offsets = {}
        for topic in topics:
            ends |= of_topic(topic, self.ends.of(topic))
        return ends

    def _since(self, offsets: Offsets) -> int:
        return sum(self._since_start(offsets).values())

    def _since_start(self, offsets: Offsets) -> Offsets:
        """Counted from where the arm found each partition."""
        return {partition: max(0, offset - self._first.get(partition, 0)) for partition, offset in offsets.items()}


def _by_partition(offsets: Offsets) -> dict[str, int]:
    """By `topic/partition`; empty where there is only one partition."""
    if len(offsets) < 2:
        return {}
    return {f"{topic}/{partition}": offset for (topic, partition), offset in sorted(offsets.items())}


def _by_name(*sources: object) -> dict[str, Any]:
    """What a sample has under the same name as one of the sources; the model checks it."""
    return {name: getattr(source, name) for source in sources for name in Sample.model_fields if hasattr(source, name)}


def counted_since(before: Sequence[int], now: Sequence[int]) -> tuple[int, ...]:
    """How much each bucket of a histogram has grown; all of `now` where the counting has begun anew."""
    if len(now) != len(before) or any(a < b for a, b in zip(now, before, strict=True)):
        return tuple(now)
    return tuple(a - b for a, b in zip(now, before, strict=True))


def percentile(share: float, le: Sequence[float], counts: Sequence[int]) -> float | None:
    """The value that `share` (0 to 1) of the counted values do not exceed; None where none was counted.

    `counts[n]` values lie above `le[n - 1]` and up to `le[n]`, and count as spread evenly between the two. Values of a
    last count without an edge count as the last edge.
    """
    total = sum(counts)
    if not total:
        return None
    wanted, reached, lower = share * total, 0, 0.0
    for edge, count in zip(le, counts, strict=False):
        if count and reached + count >= wanted:
            return lower + (edge - lower) * (wanted - reached) / count
        reached += count
        lower = edge
    return lower
