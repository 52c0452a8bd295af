"""Reads of a heap dump which classes take how much. HotSpot's format: "HPROF Binary Format", version 1.0.2.

It is read once, from its beginning, and only numbers are kept: a dump of a gigabyte takes seconds and little memory.
A size is that of the fields as the dump has them, where a reference counts 8 bytes, and of 16 for the object itself;
a JVM that compresses references takes less.
"""

import mmap
import struct
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from pipeline.errors import RefusedError
from pipeline.jvm.class_totals import ClassTotal, largest, readable

_MAGIC = b"JAVA PROFILE 1.0."
_STRING, _LOAD_CLASS, _SEGMENTS = 0x01, 0x02, (0x0C, 0x1C)
_OBJECT_BYTES = 16
# Bytes of a value by its type; 2 is a reference.
_SIZES = {2: 8, 4: 1, 5: 2, 6: 4, 7: 8, 8: 1, 9: 2, 10: 4, 11: 8}
_ARRAYS = {
    4: "boolean[]",
    5: "char[]",
    6: "float[]",
    7: "double[]",
    8: "byte[]",
    9: "short[]",
    10: "int[]",
    11: "long[]",
}
# Bytes of a root behind its tag.
_ROOTS = {0xFF: 8, 0x01: 16, 0x02: 16, 0x03: 16, 0x04: 12, 0x05: 8, 0x06: 12, 0x07: 8, 0x08: 16}
_CLASS, _INSTANCE, _OBJECTS, _VALUES = 0x20, 0x21, 0x22, 0x23
_RECORD = struct.Struct(">BII")
_INSTANCE_HEAD = struct.Struct(">QIQI")
_OBJECTS_HEAD = struct.Struct(">QIIQ")
_VALUES_HEAD = struct.Struct(">QIIB")
_CLASS_HEAD = 8 * 7 + 4 + 4


def read_dump(file: Path) -> list[ClassTotal]:
    """Largest first; of a dump that ends in the middle, as on a full disk, up to there.

    Raises RefusedError for a file that is no dump, and for one of a 32-bit JVM.
    """
    try:
        with file.open("rb") as opened:
            head = opened.read(64)
            begin = head.find(b"\0") + 1
            if not head.startswith(_MAGIC) or not begin or len(head) < begin + 12:
                raise RefusedError(f"{file} is no heap dump of a JVM", hint="its name ends in .hprof")
            (reference,) = struct.unpack_from(">I", head, begin)
            if reference != _SIZES[2]:
                raise RefusedError(f"{file} has references of {reference} bytes, and only those of 8 can be read")
            with mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as data:
                return _Reading(data).read(begin + 12)
    except OSError as error:
        raise RefusedError(f"{file} cannot be read: {error.strerror or error}") from error


class _Reading:
    def __init__(self, data: mmap.mmap) -> None:
        self._data = data
        self._strings: dict[int, str] = {}
        self._names: dict[int, int] = {}
        self._instances: dict[int, int] = defaultdict(int)
        self._references: dict[int, int] = defaultdict(int)
        self._values: dict[int, int] = defaultdict(int)

    def read(self, place: int) -> list[ClassTotal]:
        with suppress(struct.error, KeyError, IndexError):
            self._read_records(place)
        return largest(self._totals())

    def _read_records(self, place: int) -> None:
        data, end = self._data, len(self._data)
        while place < end:
            tag, _, length = _RECORD.unpack_from(data, place)
            place += _RECORD.size
            if tag == _STRING:
                (number,) = struct.unpack_from(">Q", data, place)
                self._strings[number] = data[place + 8 : place + length].decode(errors="replace")
            elif tag == _LOAD_CLASS:
                _, number, _, name = struct.unpack_from(">IQIQ", data, place)
                self._names[number] = name
            elif tag in _SEGMENTS:
                self._segment(place, min(place + length, end))
            place += length

    def _segment(self, place: int, end: int) -> None:
        """Counts what is in it. One loop without calls, as it runs once for each object of a heap."""
        data = self._data
        instances, references, values = self._instances, self._references, self._values
        while place < end:
            tag = data[place]
            place += 1
            if tag == _INSTANCE:
                _, _, of, size = _INSTANCE_HEAD.unpack_from(data, place)
                place += 24 + size
                instances[of] += size + _OBJECT_BYTES
            elif tag == _VALUES:
                _, _, count, kind = _VALUES_HEAD.unpack_from(data, place)
                size = count * _SIZES[kind]
                place += 17 + size
                values[kind] += size + _OBJECT_BYTES
            elif tag == _OBJECTS:
                _, _, count, of = _OBJECTS_HEAD.unpack_from(data, place)
                place += 24 + count * 8
                references[of] += count * 8 + _OBJECT_BYTES
            elif tag == _CLASS:
                place = self._after_class(place + _CLASS_HEAD)
            else:
                place += _ROOTS[tag]

    def _after_class(self, place: int) -> int:
        """Behind constants, static fields and the names of fields."""
        data = self._data
        (count,) = struct.unpack_from(">H", data, place)
        place += 2
        for _ in range(count):
            place += 3 + _SIZES[data[place + 2]]
        (count,) = struct.unpack_from(">H", data, place)
        place += 2
        for _ in range(count):
            place += 9 + _SIZES[data[place + 8]]
        (count,) = struct.unpack_from(">H", data, place)
        return place + 2 + 9 * int(count)

    def _totals(self) -> Iterator[ClassTotal]:
        for found in (self._instances, self._references):
            for number, size in found.items():
                yield ClassTotal(readable(self._strings.get(self._names.get(number, 0), "?")), size)
        for kind, size in self._values.items():
            yield ClassTotal(_ARRAYS.get(kind, "?"), size)
