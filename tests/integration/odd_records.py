"""Records as odd as Kafka takes them, and a way to write them: the producer's own refuses some."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kafka.admin import ConfigResource, ConfigResourceType
from kafka.protocol.producer import ProduceRequest
from kafka.record.memory_records import MemoryRecordsBuilder

from devkit.stack.topics import topic_admin
from pipeline.kafka.record_quirks import HeaderName

ANY_TIME = {
    "message.timestamp.type": "CreateTime",
    "message.timestamp.before.max.ms": str(2**63 - 1),
    "message.timestamp.after.max.ms": str(2**63 - 1),
    "retention.ms": "-1",
}
BEGIN_MS = 1_767_225_600_000  # 2026-01-01
NO_TIMES = (BEGIN_MS * 10**6, -(2**63), BEGIN_MS * 1000, -1, 0, -2, -(10**16), 2**63 - 1)
"""The first is in nanoseconds, the third in microseconds; each other one is an edge."""


@dataclass(frozen=True)
class OddRecord:
    """By default a healthy one."""

    key: bytes | None
    value: bytes | None
    timestamp: int = BEGIN_MS
    headers: tuple[tuple[bytes, bytes | None], ...] = ()


def odd_records(healthy: OddRecord) -> list[OddRecord]:
    """A record odd in one way each, beside what is healthy."""
    headers = [
        ((b"\xff\xfe", b"1"),),
        ((b"\xed\xa0\x80", b"half a pair"), (b"traceparent", b"00-1")),
        ((b"", b""), (b"\x00", b"\x00"), (b"x" * 10_000, None)),
        ((b"source-offset", b"7"), (b"source-offset", None), (b"traceparent", None)),
        ((b"traceparent", b"\xff"), (b"traceparent\xff", b"2")),
    ]
    return [
        *(replace(healthy, timestamp=timestamp) for timestamp in (*NO_TIMES, BEGIN_MS // 1000)),
        *(replace(healthy, headers=one) for one in headers),
        *(replace(healthy, key=key) for key in (None, b"", b"\xff\x00", b"k" * 20_000)),
        *(replace(healthy, value=value) for value in (None, b"", b"\xff", b"null", b"[" * 2_000)),
        replace(healthy, key=None, value=None),
        OddRecord(None, None, NO_TIMES[0], headers[0]),
    ]


def take_any_time(bootstrap: str, topic: str) -> None:
    """Have a topic take records of any timestamp."""
    with topic_admin(bootstrap, "given times") as admin:
        admin.alter_configs([ConfigResource(ConfigResourceType.TOPIC, topic, ANY_TIME)])


def write_records(bootstrap: str, topic: str, partition: int, records: Iterable[OddRecord]) -> None:
    """Write each as it is, in their order, as a batch by itself; to the one broker that there is."""
    partition_data = ProduceRequest.TopicProduceData.PartitionProduceData
    with topic_admin(bootstrap, "written") as admin:
        manager = admin._manager
        for one in records:
            batch = MemoryRecordsBuilder(2, 0, 1 << 20)
            batch.append(one.timestamp, one.key, one.value, [(HeaderName(name), value) for name, value in one.headers])
            batch.close()
            data = partition_data(index=partition, records=batch.buffer())
            topic_data = [ProduceRequest.TopicProduceData(name=topic, partition_data=[data])]
            request = ProduceRequest(
                transactional_id=None, acks=-1, timeout_ms=10_000, topic_data=topic_data, min_version=0, max_version=9
            )
            answer = manager.run(manager.send, request)
            (written,) = answer.responses[0].partition_responses
            assert written.error_code == 0, (one, written)
