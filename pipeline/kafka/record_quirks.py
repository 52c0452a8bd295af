"""What a producer may write into a record, and most clients do not expect: Kafka itself checks neither of the two.

- A timestamp is any number of 64 bits. Producers that count in micro- or nanoseconds, or that have no clock, write one
  that is no time of an event. Such a record has no time.
- The name of a header is any bytes. Kafka's own client shows those that are not UTF-8 with U+FFFD in them;
  kafka-python takes the whole batch for damaged, and reads no further.
"""

import functools
from typing import Any

LATEST_MS = 253_370_764_799_999
"""The end of the year 9998, in milliseconds since the epoch: so that windows and zones still fit into a calendar."""


def record_time_ms(timestamp: int | None) -> int | None:
    """The time of a record, in milliseconds since the epoch; None for a timestamp up to 0, as of a record that has
    none, and for one behind `LATEST_MS`.
    """
    return timestamp if timestamp is not None and 0 < timestamp <= LATEST_MS else None


class HeaderName(str):
    """A header's name that is not UTF-8. Its text is that of Kafka's own client; encoded, it is the bytes as they came,
    so that a copy of the record has them too.
    """

    __slots__ = ("_raw",)
    _raw: bytes

    def __new__(cls, raw: bytes) -> "HeaderName":
        """The text of a record's bytes."""
        text = super().__new__(cls, raw.decode(errors="replace"))
        text._raw = raw
        return text

    def encode(self, encoding: str = "utf-8", errors: str = "strict") -> bytes:  # noqa: ARG002 - as `str` has it
        """The bytes in the record."""
        return self._raw


@functools.cache
def accept_any_header_name() -> None:
    """Have kafka-python read records whatever their headers' names are: to be called before a consumer is made."""
    from kafka.record.default_records import DefaultRecordBatch

    read_strictly = DefaultRecordBatch._read_msg  # noqa: SLF001 - it has no option for this

    def read(batch: Any) -> Any:
        try:
            return read_strictly(batch)
        except UnicodeDecodeError:
            # It stands where it stood: only a whole record moves it on.
            batch._buffer = _AnyNames(batch._buffer)  # noqa: SLF001
            return read_strictly(batch)

    DefaultRecordBatch._read_msg = read  # noqa: SLF001


class _AnyNames(bytearray):
    """Records whose parts can be read as text, whatever they are."""

    def __getitem__(self, at: Any) -> Any:
        part = super().__getitem__(at)
        return _AnyText(part) if isinstance(at, slice) else part


class _AnyText(bytearray):
    def decode(self, encoding: str = "utf-8", errors: str = "strict") -> str:
        try:
            return super().decode(encoding, errors)
        except UnicodeDecodeError:
            return HeaderName(bytes(self))
