"""Records from one topic into another, or into the same: each acknowledged before a command says that it is done.

Records of one source partition that go to one partition arrive in their order: the producer is idempotent.
"""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar, Protocol

from kafka import KafkaProducer
from kafka.errors import KafkaError

from pipeline.errors import PipelineError, RefusedError
from pipeline.kafka.cluster import BrokersAt, connected
from pipeline.kafka.errors import broker_failure
from pipeline.ops.broker import CLIENT_ID, CONNECT_MS, connecting
from pipeline.ops.source import SourceHeaders

_ACK_S = 60.0


@dataclass(frozen=True, slots=True)
class Copy:
    """`partition` None: by the key. `timestamp_ms` None: the time at which it is sent."""

    key: bytes | None
    value: bytes | None
    headers: SourceHeaders
    partition: int | None = None
    timestamp_ms: int | None = None


class Target(Protocol):
    """Where copies go. Both raise PipelineError for the first copy that failed."""

    def send(self, copy: Copy) -> None:
        """Returns before it is acknowledged."""

    def finish(self) -> None:
        """Returns when all is acknowledged."""


class CopyStoppedError(PipelineError):
    """The operator pressed Ctrl-C; what was `sent` is acknowledged."""

    exit_code: ClassVar[int] = 130

    def __init__(self, sent: int, *, hint: str | None = None) -> None:
        super().__init__(f"stopped, with {sent} records sent, all of them acknowledged", hint=hint)
        self.sent = sent


class Pace:
    """Lets at most `rate` pass a second, one after the other and none in advance."""

    def __init__(
        self,
        rate: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._interval_s = 1 / rate
        self._clock = clock
        self._sleep = sleep
        self._next = clock()

    def wait(self) -> None:
        """Returns when the next one may pass."""
        now = self._clock()
        if now < self._next:
            self._sleep(self._next - now)
        self._next = max(now, self._next) + self._interval_s


def copy_all(copies: Iterable[Copy], target: Target, pace: Pace | None = None) -> int:
    """How many were copied, all of them acknowledged.

    Raises PipelineError, which says how many were sent, and CopyStoppedError on Ctrl-C. A copy that is not sent is the
    last that was taken from `copies`.
    """
    sent, stopped = 0, False
    try:
        try:
            for copy in copies:
                if pace:
                    pace.wait()
                target.send(copy)
                sent += 1
        except KeyboardInterrupt:
            stopped = True
        target.finish()
    except PipelineError as error:
        kind = RefusedError if isinstance(error, RefusedError) else PipelineError
        raise kind(f"{error} (of {sent} records sent)", hint=error.hint) from error
    if stopped:
        raise CopyStoppedError(sent)
    return sent


class KafkaTarget:
    """A topic that is there."""

    def __init__(self, producer: KafkaProducer, bootstrap: BrokersAt, topic: str) -> None:
        self._producer = producer
        self._place = f"topic {topic} at {bootstrap}"
        self._topic = topic
        self._failure: Exception | None = None

    def send(self, copy: Copy) -> None:
        """Does not wait for the acknowledgement. Raises PipelineError, also for a record sent before."""
        self._check()
        try:
            self._producer.send(
                self._topic,
                key=copy.key,
                # It sends no record without key and value. To a job an empty event is as unreadable as none.
                value=b"" if copy.key is None and copy.value is None else copy.value,
                headers=_without_null(copy.headers),
                partition=copy.partition,
                timestamp_ms=copy.timestamp_ms,
            ).add_errback(self._failed)
        except KafkaError as error:
            self._failed(error)
            self._check()

    def finish(self) -> None:
        """Waits until all are acknowledged. Raises PipelineError when one was not, or not in time."""
        try:
            self._producer.flush(timeout=_ACK_S)
        except KafkaError as error:
            self._failed(error)
        self._check()

    def _failed(self, error: Exception) -> None:
        self._failure = self._failure or error

    def _check(self) -> None:
        if self._failure is not None:
            raise broker_failure(
                f"{self._place} could not be written",
                self._failure,
                hint="of a record that is too large: sink.max.request.size and the topic's max.message.bytes",
            ) from self._failure


def _without_null(headers: SourceHeaders) -> list[tuple[str, bytes]]:
    """Headers without those that are null, as the producer sends none. A job drops a null header and earlier ones of
    its name; the copy does the same.
    """
    kept: list[tuple[str, bytes]] = []
    for name, value in headers:
        if value is None:
            kept = [header for header in kept if header[0] != name]
        else:
            kept.append((name, value))
    return kept


@contextmanager
def opened_target(bootstrap: BrokersAt, topic: str, max_request_size: int) -> Iterator[KafkaTarget]:
    """Raises PipelineError when no broker answers."""
    with connecting(bootstrap):
        producer = connected(
            KafkaProducer,
            bootstrap,
            {
                "client_id": CLIENT_ID,
                "acks": "all",
                "enable_idempotence": True,
                "max_request_size": max_request_size,
                "delivery_timeout_ms": int(_ACK_S * 1000),
                "bootstrap_timeout_ms": CONNECT_MS,
                "allow_auto_create_topics": False,
            },
        )
    try:
        yield KafkaTarget(producer, bootstrap, topic)
    finally:
        producer.close(timeout=_ACK_S)
