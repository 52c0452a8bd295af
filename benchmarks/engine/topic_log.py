"""What a broker on this machine has appended to a topic, read from its files: no client takes part in the race.

A batch of Kafka's log has its length and time in a header of fixed width (magic 2); with LogAppendTime that is when
the broker wrote it. Of its records key and value are found by walking over their lengths. Compressed batches are
refused: all contestants write uncompressed ones.
"""

import mmap
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_HEADER = struct.Struct(">qiibIhiqqqhii")
_MAGIC = 2
_COMPRESSION = 0x07
_CONTROL = 0x20
_LENGTH_BEFORE = 12  # offset and length itself do not count


@dataclass(frozen=True, slots=True)
class Batch:
    """Records that were appended together, `at_ms` since 1970; they lie at `begin` to `end` of the file."""

    partition: int
    offset: int
    count: int
    at_ms: int
    file: Path
    begin: int
    end: int


@dataclass(frozen=True, slots=True)
class Appended:
    """One record."""

    partition: int
    offset: int
    at_ms: int
    key: bytes | None
    value: bytes | None


class TopicLog:
    """One topic below a broker's data directory, followed as it grows."""

    def __init__(self, data: Path, topic: str) -> None:
        self._data, self._topic = data, topic
        self._read: dict[Path, int] = {}
        self.batches: list[Batch] = []

    @property
    def count(self) -> int:
        """Records in `batches`."""
        return sum(batch.count for batch in self.batches)

    def look(self) -> int:
        """Take what has been appended since the last look; returns how many records there are by now."""
        for directory in sorted(self._data.glob(f"{self._topic}-*")):
            number = directory.name.removeprefix(f"{self._topic}-")
            if number.isdecimal():
                for file in sorted(directory.glob("*.log")):
                    self.batches.extend(self._new_batches(int(number), file))
        return self.count

    def records(self, *, value_bytes: int | None = None, since: int = 0) -> Iterator[Appended]:
        """The records of `batches` from number `since` on; of a value at most so many bytes from its start."""
        batches = self.batches[since:]
        for file in sorted({batch.file for batch in batches}):
            with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                for batch in batches:
                    if batch.file == file:
                        yield from _records(data, batch, value_bytes)

    def _new_batches(self, partition: int, file: Path) -> Iterator[Batch]:
        begin = self._read.get(file, 0)
        with file.open("rb") as opened:
            size = opened.seek(0, 2)
            while begin + _HEADER.size <= size:
                opened.seek(begin)
                base, length, _, magic, _, attributes, _, _, at_ms, _, _, _, count = _HEADER.unpack(
                    opened.read(_HEADER.size)
                )
                end = begin + _LENGTH_BEFORE + length
                if end > size or length <= 0:
                    break  # it is being written
                if magic != _MAGIC or attributes & _COMPRESSION:
                    raise ValueError(f"{file} has a batch of magic {magic}, attributes {attributes:#x} at {begin}")
                if not attributes & _CONTROL:
                    yield Batch(partition, base, count, at_ms, file, begin + _HEADER.size, end)
                begin = end
        self._read[file] = begin


def _records(data: mmap.mmap, batch: Batch, value_bytes: int | None) -> Iterator[Appended]:
    at = batch.begin
    while at < batch.end:
        length, at = _varint(data, at)
        end = at + length
        _, at = _varint(data, at + 1)  # time, after the attributes
        offset, at = _varint(data, at)
        key, at = _bytes(data, at, None)
        value, _ = _bytes(data, at, value_bytes)
        yield Appended(batch.partition, batch.offset + offset, batch.at_ms, key, value)
        at = end


def _bytes(data: mmap.mmap, at: int, at_most: int | None) -> tuple[bytes | None, int]:
    length, at = _varint(data, at)
    if length < 0:
        return None, at
    return data[at : at + (length if at_most is None else min(length, at_most))], at + length


def _varint(data: mmap.mmap, at: int) -> tuple[int, int]:
    """A number in zigzag form, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
