"""The size of a record as Kafka's producer computes it before it compares with `max.request.size`.

`KafkaProducer.doSend` calls `AbstractRecords.estimateSizeInBytesUpperBound`; for message format 2 that is the batch
header (61 bytes), the largest possible overhead of a record (21 bytes) and the fields with their length prefixes.
An upper bound, taken before compression, which therefore makes no difference.
"""

from pipeline.records.record import Headers

_BATCH_OVERHEAD = 61
_MAX_RECORD_OVERHEAD = 21


def varint_size(value: int) -> int:
    """Bytes of a non-negative int as a zig-zag varint."""
    return (value.bit_length() + 7) // 7


def serialized_size(key: bytes | None, value: bytes, headers: Headers) -> int:
    """Bytes the producer compares with its limit, and prints when it refuses."""
    size = _BATCH_OVERHEAD + _MAX_RECORD_OVERHEAD
    size += 1 if key is None else varint_size(len(key)) + len(key)
    size += varint_size(len(value)) + len(value)
    size += varint_size(len(headers))
    for name, content in headers:
        encoded = name.encode()
        size += varint_size(len(encoded)) + len(encoded) + varint_size(len(content)) + len(content)
    return size
