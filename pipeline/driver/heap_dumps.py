"""Has the driver's JVM write its heap to a file when it runs out of memory, and tells of it at the end of the job.

The two settings of HotSpot can be changed while it runs, so it makes no difference who has started the JVM, and no
option of the user's is replaced. It writes at its first OutOfMemoryError and never again.
"""

import mmap
import struct
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pipeline import log
from pipeline.config.heap_dump_section import HeapDumps
from pipeline.driver.session import jvm_pid
from pipeline.errors import PipelineError, RefusedError
from pipeline.events import HeapDumped, HeapDumpsOff

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_PRIMITIVES = {
    "Z": "boolean",
    "B": "byte",
    "C": "char",
    "S": "short",
    "I": "int",
    "J": "long",
    "F": "float",
    "D": "double",
}


@dataclass(frozen=True, slots=True)
class ClassTotal:
    """`size` is in bytes, of the objects themselves and not of what they refer to."""

    name: str
    size: int


def largest(totals: Iterable[ClassTotal]) -> list[ClassTotal]:
    """Ordered by size; those of one name are added, as several class loaders may have it."""
    sizes: dict[str, int] = {}
    for total in totals:
        sizes[total.name] = sizes.get(total.name, 0) + total.size
    return sorted((ClassTotal(*item) for item in sizes.items()), key=lambda total: (-total.size, total.name))


def java_name(name: str) -> str:
    """As a person writes it: `byte[]` for `[B`, `java.lang.String[]` for `[Ljava/lang/String;`."""
    inner = name.lstrip("[")
    depth = len(name) - len(inner)
    if depth:
        inner = _PRIMITIVES.get(inner) or inner.removeprefix("L").removesuffix(";")
    return inner.replace("/", ".") + "[]" * depth


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
    """Which classes take how much, largest first; of a dump that is cut off, as on a full disk, up to there.

    The format is HotSpot's "HPROF Binary Format", version 1.0.2. It is read once, from its beginning, and only numbers
    are kept: a dump of a gigabyte takes seconds and little memory. A size is that of the fields as the dump has them,
    where a reference counts 8 bytes, and of 16 for the object itself; a JVM that compresses references takes less.

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
                _, _, class_id, size = _INSTANCE_HEAD.unpack_from(data, place)
                place += 24 + size
                instances[class_id] += size + _OBJECT_BYTES
            elif tag == _VALUES:
                _, _, count, kind = _VALUES_HEAD.unpack_from(data, place)
                size = count * _SIZES[kind]
                place += 17 + size
                values[kind] += size + _OBJECT_BYTES
            elif tag == _OBJECTS:
                _, _, count, class_id = _OBJECTS_HEAD.unpack_from(data, place)
                place += 24 + count * 8
                references[class_id] += count * 8 + _OBJECT_BYTES
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
        for sizes in (self._instances, self._references):
            for number, size in sizes.items():
                yield ClassTotal(java_name(self._strings.get(self._names.get(number, 0), "?")), size)
        for kind, size in self._values.items():
            yield ClassTotal(_ARRAYS.get(kind, "?"), size)


_BEAN = "com.sun.management.HotSpotDiagnosticMXBean"
_SHOWN = 5
# Reading it delays the end of the process, by some five seconds for this many bytes.
_MOST_READ = 1 << 30


@dataclass(frozen=True, slots=True)
class AwaitedDump:
    """`file` is where the JVM would write; None where it writes none."""

    file: Path | None

    @property
    def is_there(self) -> bool:
        """Whether the JVM has run out of memory since the start."""
        return self.file is not None and self.file.exists()

    def log_dump(self) -> None:
        """Log the dump if there is one, with its largest classes unless it is too large to be read at once."""
        if self.file is None or not self.is_there:
            return
        size = self.file.stat().st_size
        classes: dict[str, int] = {}
        if size <= _MOST_READ:
            try:
                classes = {total.name: total.size for total in read_dump(self.file)[:_SHOWN]}
            except PipelineError as error:
                log.write_stderr(error.render())
        log.emit(HeapDumped(file=str(self.file), bytes=size, classes=classes))


def await_dump(spark: "SparkSession", settings: HeapDumps, job: str) -> AwaitedDump:
    """Makes the JVM write a dump on its first OutOfMemoryError. Raises RefusedError when the directory cannot
    be made.
    """
    if settings.directory is None:
        return AwaitedDump(None)
    directory = Path(settings.directory).absolute()
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise RefusedError(
            f"heap_dump.directory: {directory} cannot be made: {error.strerror or error}", hint="name another directory"
        ) from error
    dump_count = len(list(directory.glob("*.hprof")))
    if dump_count >= settings.keep:
        log.emit(HeapDumpsOff(directory=str(directory), dumps=dump_count, keep=settings.keep))
        return AwaitedDump(None)
    # In a container every start has the same number, and a file that is there is not written again.
    file = directory / f"{job}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{jvm_pid(spark)}.hprof"
    jvm: Any = spark._jvm  # noqa: SLF001
    bean = jvm.java.lang.management.ManagementFactory.getPlatformMXBean(jvm.java.lang.Class.forName(_BEAN))
    bean.setVMOption("HeapDumpPath", str(file))
    bean.setVMOption("HeapDumpOnOutOfMemoryError", "true")
    return AwaitedDump(file)
