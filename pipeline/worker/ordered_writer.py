"""A producer that ends with the first record that is refused: of each key a prefix of what was sent lands.

Kafka's producers give up on a record that the broker refuses, and go on with those behind it, of the same page too. A
topic may refuse any record: it takes smaller ones since a minute ago, or a right is gone. So Spark's sink is for pages
that have one record in a batch; the others, and the slow lane's, go through this.
"""

from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from kafka import KafkaProducer
from kafka.errors import KafkaError, KafkaTimeoutError

from pipeline.config.endpoint_sections import Sink
from pipeline.config.kafka_section import Kafka
from pipeline.deferral.wire import NullRecord
from pipeline.errors import PipelineError
from pipeline.kafka.cluster import brokers_of, connected
from pipeline.kafka.long_lived import LONG_LIVED
from pipeline.kafka.sink import REQUEST_MS, patience_ms
from pipeline.records.record import Record
from pipeline.records.size import serialized_size

# The client keeps what is sent in memory without a bound.
_UNACKED_BYTES = 8 * 1024 * 1024
# One request a partition is under way, so what comes meanwhile has to fit into the next. A batch that is larger than
# its topic takes is split by halves.
_BATCH_BYTES = 256 * 1024
_LINGER_MS = 20


class OrderedWriter:
    """`send` what is to be written, then `flush`. `producer` gives the one to write with, which is this writer's alone
    until then, and is asked at each record.

    Records of one key and topic are in one partition, where they land in the order in which they are sent. Before a key
    goes to another topic, what is on its way is awaited.
    """

    def __init__(self, producer: Callable[[], KafkaProducer]) -> None:
        self._producer = producer
        self._unacked: deque[tuple[Any, int]] = deque()
        self._unacked_bytes = 0
        self._topics: dict[bytes | None, str] = {}
        self._refusal: PipelineError | None = None

    def send(self, records: Iterable[Record | NullRecord]) -> None:
        """Returns before the last of them are acknowledged. Raises PipelineError when one was refused."""
        for record in records:
            size = serialized_size(record.key, record.value or b"", record.headers)
            while self._unacked and self._unacked_bytes + size > _UNACKED_BYTES:
                self._await_first()
            if self._topics.get(record.key, record.topic) != record.topic:
                self.flush()
            self._send(record, size)

    def flush(self) -> None:
        """Returns when all is acknowledged. Raises PipelineError when something was refused."""
        if self._unacked:
            self._producer().flush()  # nothing waits for more to come
        while self._unacked:
            self._await_first()
        self._topics.clear()

    def _send(self, record: Record | NullRecord, size: int) -> None:
        producer = self._producer()

        def end(error: Exception) -> None:
            # In the producer's own thread, which sends nothing until this returns. `close` would wait for that thread.
            self._refusal = self._refusal or _refusal(record.topic, size, error)
            producer._sender.force_close()  # noqa: SLF001

        try:
            ack = producer.send(record.topic, key=record.key, value=record.value, headers=list(record.headers))
        except KafkaError as error:
            raise self._refusal or _refusal(record.topic, size, error) from error
        ack.add_errback(end)
        self._unacked.append((ack, size))
        self._unacked_bytes += size
        self._topics[record.key] = record.topic

    def _await_first(self) -> None:
        ack, size = self._unacked.popleft()
        self._unacked_bytes -= size
        try:
            ack.get()
        except KafkaError as error:
            raise self._refusal or error from error


def _refusal(topic: str, size: int, error: Exception) -> PipelineError:
    reason = ": ".join([type(error).__name__, *(str(argument) for argument in error.args if argument)])
    return PipelineError(f"topic {topic} refused a record of {size} bytes: {reason}")


def ordered_producer(sink: Sink, kafka: Kafka) -> KafkaProducer:
    """As patient and as reliable as Spark's sink. It is idempotent, and so has one request a partition under way."""
    limit_ms = patience_ms(sink)
    options = {
        "client_id": "enrichment-ordered",
        "acks": "all",
        "enable_idempotence": True,
        "linger_ms": _LINGER_MS,
        "batch_size": min(_BATCH_BYTES, sink.max_request_size),
        "max_request_size": sink.max_request_size,
        "compression_type": None if kafka.compression == "none" else kafka.compression,
        "delivery_timeout_ms": limit_ms,
        "request_timeout_ms": min(REQUEST_MS, limit_ms - _LINGER_MS),
        "max_block_ms": limit_ms,
        **LONG_LIVED,
        "allow_auto_create_topics": False,
    }
    while True:
        try:
            return connected(KafkaProducer, brokers_of(sink.bootstrap_servers, kafka), options)
        except KafkaTimeoutError:
            # An outage of the brokers is a wait.
            if sink.delivery_timeout is not None:
                raise
