"""The source's topics as the aligned source asks them: where partitions begin and end, what was when, and the records.

Only what is committed counts: a partition ends before the first transaction that is open. Every wait has an end, and
names the brokers when it comes to it.
"""

import functools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from kafka import KafkaConsumer
from kafka.consumer.fetcher import ConsumerRecord
from kafka.errors import KafkaError, OffsetOutOfRangeError
from kafka.structs import OffsetAndTimestamp, TopicPartition

from pipeline.aligned.horizon import Offsets
from pipeline.aligned.record_ranges import SilentError, read_ranges
from pipeline.errors import PipelineError
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.errors import broker_failure
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.partition_offsets import end_offsets, first_offsets, offsets_at
from pipeline.records.record import SourcePartition

Enough = Callable[[SourcePartition, ConsumerRecord], bool]

ANSWER_S = 60.0
"""How long the brokers may be away, as for Spark's own source."""
_LATEST_MS = 2**63 - 1
"""Kafka has no later time: behind it there is no record."""
_REFRESH_S = 10.0
_CONNECTION_IDLE_MS = 300_000
# The broker answers one request of a connection at a time: a question must not wait behind a fetch that finds nothing.
_FETCH_WAIT_MS = 10


class KafkaLog:
    """Not safe to use from several threads at once. Its methods raise PipelineError when the brokers do not answer."""

    def __init__(
        self, bootstrap: BrokersAt, client_id: str, *, fetch_bytes: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """A fetch returns at most `fetch_bytes` of a partition, or one batch of the producer's."""
        self._bootstrap, self._clock = bootstrap, clock
        self._refreshed: float | None = None
        # One that asks and one that reads: what a client has not assigned, it forgets.
        options = {
            "client_id": client_id,
            "enable_auto_commit": False,
            "allow_auto_create_topics": False,
            # What is gone is an error: to go on behind it would be to lose it in silence.
            "auto_offset_reset": "none",
            "isolation_level": "read_committed",
            "max_partition_fetch_bytes": fetch_bytes,
            "fetch_max_wait_ms": _FETCH_WAIT_MS,
            "connections_max_idle_ms": _CONNECTION_IDLE_MS,
            **LONG_LIVED,
        }
        self._make = functools.partial(connected, KafkaConsumer, bootstrap, options)
        self._opened: dict[str, KafkaConsumer] = {}

    def bounds(self, topics: Sequence[str]) -> Mapping[SourcePartition, tuple[int, int]]:
        """The first offset and the end of each partition. Raises PipelineError for a topic that is not there."""
        with self._answers("do not say where their topics end"):
            if self._refreshed is None or self._clock() - self._refreshed >= _REFRESH_S:
                # What it knows of a topic it keeps; only this asks again, and so finds a partition that is new.
                self._consumer("asks").topics()
                self._refreshed = self._clock()
            places = []
            for topic in topics:
                numbers = self._consumer("asks").partitions_for_topic(topic)
                if not numbers:
                    raise PipelineError(f"there is no topic {topic} at {self._bootstrap}")
                places += [TopicPartition(topic, number) for number in sorted(numbers)]
            self._consumer("asks").assign(places)
            firsts = first_offsets(self._consumer("asks"), places, timeout_s=ANSWER_S)
            ends = end_offsets(self._consumer("asks"), places, timeout_s=ANSWER_S)
        return {SourcePartition(*place): (firsts[place], ends[place]) for place in places}

    def first_at(self, at_ms: Mapping[SourcePartition, int]) -> Mapping[SourcePartition, OffsetAndTimestamp | None]:
        """The first record of each partition whose timestamp is that or a later one, None when there is none. It may
        lie far before records that are earlier: producers' clocks differ. Nor need its timestamp be a time.
        """
        with self._answers("do not say what their topics held when"):
            times = {TopicPartition(*partition): max(0, ms) for partition, ms in at_ms.items() if ms <= _LATEST_MS}
            records = offsets_at(self._consumer("asks"), times, timeout_s=ANSWER_S)
        return dict.fromkeys(at_ms) | {SourcePartition(*place): record for place, record in records.items()}

    def read(
        self,
        starts: Offsets,
        stops: Offsets,
        *,
        enough: Enough | None = None,
    ) -> Iterator[tuple[SourcePartition, list[ConsumerRecord]]]:
        """All records of each partition from its start up to and without its stop, in their order; none behind the
        first of a partition for which `enough` is true. Raises PipelineError for offsets that are gone.
        """
        ranges = {TopicPartition(*partition): (starts[partition], stop) for partition, stop in stops.items()}
        is_last = None if enough is None else lambda place, record: enough(SourcePartition(*place), record)
        try:
            with self._answers("do not hand over their records"):
                consumer = self._consumer("reads")
                chunks = read_ranges(consumer, ranges, clock=self._clock, answer_s=ANSWER_S, enough=is_last)
                for place, records in chunks:
                    yield SourcePartition(*place), records
        except SilentError:
            raise PipelineError(f"the brokers at {self._bootstrap} sent no record for {ANSWER_S:g} s") from None

    def _consumer(self, purpose: str) -> KafkaConsumer:
        if purpose not in self._opened:
            self._opened[purpose] = self._make()
        return self._opened[purpose]

    def close(self) -> None:
        """Commits no offsets: the job's positions stand in its checkpoint."""
        for consumer in self._opened.values():
            consumer.close(autocommit=False)

    @contextmanager
    def _answers(self, complaint: str) -> Iterator[None]:
        try:
            yield
        except OffsetOutOfRangeError as error:
            raise PipelineError(
                f"offsets that the job has not read are gone from {self._bootstrap}: {error}",
                hint="retention has deleted them, or the topic was made again: `checkpoint verify` says which",
            ) from error
        except (KafkaError, OSError, ValueError) as error:
            raise broker_failure(f"the brokers at {self._bootstrap} {complaint}", error) from error
