"""What is published into the source topics while the updater runs: events at their pace, and canaries beside them.

open ── canaries every second ─────────────────────────────────── close
start ── events ── the last one is out
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property

from kafka import KafkaProducer
from kafka.errors import KafkaError

from benchmarks.engine.event_latency import Published, read_published
from benchmarks.engine.source_traffic import CANARIES_EVERY, SourceTraffic
from devkit.errors import StackError
from devkit.event_bus.wikibase_record import WIKIBASE_TOPICS, wikibase_canaries
from devkit.observe.audit.source_event import SourceEvent
from devkit.traffic.publish import Publisher

_FLUSH_S = 30


@dataclass
class SourceFeed:
    """Of one traffic, once. Methods raise StackError for what could not be published."""

    bootstrap: str
    source: SourceTraffic
    _stop: threading.Event = field(default_factory=threading.Event)
    _error: KafkaError | None = None

    def __post_init__(self) -> None:
        self._publisher: Publisher = self.source.traffic.publisher(self.bootstrap, WIKIBASE_TOPICS[0], self._stop)
        self._is_started = False

    @property
    def is_started(self) -> bool:
        """Whether the events are on their way, or out."""
        return self._is_started

    def start(self) -> None:
        """Begin to publish the events."""
        self._is_started = True
        self._publisher.start()

    def is_out(self) -> bool:
        """Whether all events are published."""
        if self._error is not None:
            raise StackError(f"publishing canaries failed: {self._error}", hint="look at the broker's log")
        if self._publisher.error is not None:
            raise self._publisher.error
        return self._publisher.done

    def publish(self, timeout_s: float) -> None:
        """All events, until they are out."""
        self.start()
        self._publisher.result(timeout_s)

    @cached_property
    def events(self) -> Sequence[SourceEvent]:
        """Once all are out: with the bytes that were sent."""
        return self.source.traffic.source_events(self._publisher)

    @cached_property
    def published(self) -> Sequence[Published]:
        """Once all are out: the events of entities."""
        return [*read_published(self.events, self._publisher.sent_ms())]

    @contextmanager
    def canaries(self) -> Iterator[None]:
        """They are published in all topics meanwhile. In the end nothing is published any more."""
        thread = threading.Thread(target=self._publish_canaries, name="canaries", daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._stop.set()
            thread.join()

    def _publish_canaries(self) -> None:
        try:
            producer = KafkaProducer(bootstrap_servers=self.bootstrap, acks="all", linger_ms=0)
            try:
                while not self._stop.wait(CANARIES_EVERY.total_seconds()):
                    for canary in wikibase_canaries(datetime.now(UTC)):
                        producer.send(
                            canary.topic, key=canary.key, value=canary.value, timestamp_ms=canary.timestamp_ms
                        )
                    producer.flush(_FLUSH_S)
            finally:
                producer.close(timeout=_FLUSH_S)
        except KafkaError as error:
            self._error = error
