"""One look at everything: upstream, topics, checkpoint, deferrals, processes."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from devkit.observe.checkpoint import Checkpoint, Offsets
from devkit.observe.deferrals import Deferrals
from devkit.observe.histogram import difference, percentile
from devkit.observe.sample import Sample
from devkit.observe.usage import TreeUsage
from devkit.stack.parts.mock_api import JournalCounts
from devkit.stack.topics import TopicEnds


@dataclass(frozen=True)
class Topics:
    """The names of the topics whose ends are looked at."""

    source: str
    output: str
    error: str


@dataclass(frozen=True)
class Look:
    """A sample, and by partition the offsets of which it holds the sums; `counts` is what the upstream said."""

    sample: Sample
    committed: Offsets
    source_ends: Offsets
    counts: JournalCounts


@dataclass
class Sampler:
    """`clock` gives seconds since the arm's start."""

    counts: Callable[[], JournalCounts]
    topics: Topics
    ends: TopicEnds
    checkpoint: Checkpoint
    deferrals: Deferrals
    usage: TreeUsage
    clock: Callable[[], float]
    _answers: tuple[int, ...] = field(default=(), init=False)
    _first: Mapping[str, Offsets] = field(default_factory=dict, init=False)

    def look(self, process: int | None) -> Look:
        """A look now, while the query of pipeline process `process` runs. Raises StackError."""
        counts = self.counts()
        source_ends = self.ends.of(self.topics.source)
        # In this order: what a committed batch deferred is in the topic before its commit is.
        committed = self.checkpoint.committed()
        deferred = self.deferrals.catch_up()
        answers = difference(counts.latency.counts, self._answers)
        self._answers = tuple(counts.latency.counts)
        p50, p95, p99 = (percentile(share, counts.latency.le_s, answers) for share in (0.50, 0.95, 0.99))
        sample = Sample(
            at_s=self.clock(),
            committed=self._since(self.topics.source, committed),
            source_end=self._since(self.topics.source, source_ends),
            outputs=self._since(self.topics.output, self.ends.of(self.topics.output)),
            errors=self._since(self.topics.error, self.ends.of(self.topics.error)),
            process=process,
            upstream_clock_s=counts.clock_s,
            answer_p50_s=p50,
            answer_p95_s=p95,
            answer_p99_s=p99,
            faults={name: rule.requests for name, rule in counts.rules.items()},
            deferred=deferred,
            **_by_name(counts, counts.upstream, self.usage.look()),
        )
        return Look(sample, committed, source_ends, counts)

    def count_from_now(self, source: Offsets) -> None:
        """Leave out of samples what topics hold by now (of the source up to these offsets), what the upstream has
        answered and what processes have used. Raises StackError.
        """
        topics = self.topics
        self._first = {topics.source: source} | {name: self.ends.of(name) for name in (topics.output, topics.error)}
        self._answers = ()  # the upstream has begun afresh
        self.usage.look()

    def _since(self, topic: str, offsets: Offsets) -> int:
        first = self._first.get(topic, {})
        return sum(max(0, offset - first.get(partition, 0)) for partition, offset in offsets.items())


def _by_name(*sources: object) -> dict[str, Any]:
    """What a sample has under the same name as one of the sources; the model checks it."""
    return {name: getattr(source, name) for source in sources for name in Sample.model_fields if hasattr(source, name)}
