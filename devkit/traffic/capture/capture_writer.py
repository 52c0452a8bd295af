"""Writes a capture record by record, so that neither memory nor a kill decides how much of it there is."""

import os
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

import orjson
from pydantic import BaseModel, ValidationError

from devkit.errors import DevkitError, UsageError
from devkit.traffic.capture.capture_file import (
    CAPTURE_VERSION,
    CaptureCounts,
    CapturedRecord,
    CaptureEnd,
    CaptureHeader,
    CaptureSource,
    EndedBy,
)

PART = ".part"
_PRIVATE = 0o600
_END_BYTES = 64 * 1024
"""What the last line may take at most: replaced places are bounded in number."""


class CaptureWriter:
    """Appends to `path` with `.part` behind its name, which goes when it is `finish`ed. Only its owner can read it.

    As a context manager: without `finish` what was written stays under that name, and nothing where that is no record.
    All methods raise DevkitError where the file cannot be written.
    """

    def __init__(self, path: Path, source: CaptureSource, *, text_kept: bool, most_bytes: int = sys.maxsize) -> None:
        self._path, self._part, self._most_bytes = path, path.with_name(path.name + PART), most_bytes
        self._counts = _Counting()
        self._is_whole = self.is_full = False
        for existing in (path, self._part):
            if existing.exists():
                more = f", or make it whole with `devkit capture --finish {existing}`" if existing == self._part else ""
                raise UsageError(f"{existing} is there already", hint=f"choose another file with --out{more}")
        with _writing(path):
            self._file = open(os.open(self._part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _PRIVATE), "wb")  # noqa: PTH123, SIM115
        self.bytes = 0
        header = CaptureHeader(devkit_capture=CAPTURE_VERSION, source=source, text_kept=text_kept)
        self._write(_line(header))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _writing(self._path):
            self._file.close()
        if not self._is_whole and not self.count:
            self._part.unlink(missing_ok=True)

    @property
    def count(self) -> int:
        """Records so far."""
        return self._counts.by_partition.total()

    def add(self, record: CapturedRecord) -> None:
        """Writes a line. Where the whole file would become larger than it may, it `is_full` and nothing is written."""
        line = orjson.dumps(record.model_dump(exclude_unset=True)) + b"\n"
        self.is_full |= self.bytes + len(line) + _END_BYTES > self._most_bytes
        if not self.is_full:
            self._write(line)
            self._counts.add(record)

    def flush(self) -> None:
        """What was added is the system's then, and stays when this process is killed."""
        with _writing(self._path):
            self._file.flush()

    def finish(self, ended_by: EndedBy, replaced: Mapping[str, int] | None) -> None:
        """Writes the end and puts the file in its place; nothing can be added then."""
        self._write(_line(self._counts.end(ended_by, replaced)))
        with _writing(self._path):
            self._file.close()
            self._part.rename(self._path)
        self._is_whole = True

    def _write(self, line: bytes) -> None:
        with _writing(self._path):
            self._file.write(line)
        self.bytes += len(line)


class _Counting:
    """What the last line of a capture counts."""

    def __init__(self) -> None:
        self._unparsed = self._bytes = 0
        self.by_partition: Counter[str] = Counter()

    def add(self, record: CapturedRecord) -> None:
        self.by_partition[f"{record.topic}/{record.partition}"] += 1
        self._bytes += record.bytes
        self._unparsed += record.unparsed is not None

    def end(self, ended_by: EndedBy, replaced: Mapping[str, int] | None) -> CaptureEnd:
        return CaptureEnd(
            ended_by=ended_by,
            ended=datetime.now(UTC),
            counts=CaptureCounts(
                events=self.by_partition.total(),
                unparsed=self._unparsed,
                bytes=self._bytes,
                by_partition=dict(self.by_partition),
            ),
            replaced=None if replaced is None else dict(replaced),
        )


def finish_killed(part: Path) -> tuple[Path, int]:
    """Make a capture whole that was killed, and give it its name; a line that was not written to its end goes.

    Returns the file and how many records it has. Raises UsageError for what is no unfinished capture.
    """
    finished = part.with_name(part.name.removesuffix(PART))
    if part.suffix != PART:
        raise UsageError(f"{part} does not end with {PART}", hint="the name of an unfinished capture does")
    if finished.exists():
        raise UsageError(f"{finished} is there already", hint="move one of the two away")
    counting, kept, has_end = _Counting(), 0, False
    try:
        with part.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                document = orjson.loads(line)
                if number == 1:
                    CaptureHeader.model_validate(document)
                elif "ended_by" in document:
                    has_end = True  # it was killed before it had its name
                else:
                    counting.add(CapturedRecord.model_validate(document))
                kept += len(line)
    except OSError as error:
        raise UsageError(f"{part} cannot be read: {error.strerror}") from error
    except (ValidationError, orjson.JSONDecodeError) as error:
        raise UsageError(f"{part}:{number}: is no line of a capture", hint="remove the line") from error
    if not kept:
        raise UsageError(f"{part} has no header, so nothing of it can be used", hint="remove it")
    with _writing(finished):
        os.truncate(part, kept)
        if not has_end:
            with part.open("ab") as file:
                file.write(_line(counting.end("kill", None)))
        part.rename(finished)
    return finished, counting.by_partition.total()


def _line(model: BaseModel) -> bytes:
    return model.model_dump_json(by_alias=True).encode() + b"\n"


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DevkitError(
            f"{path} cannot be written: {error.strerror}", hint="choose another with --out, or free some space"
        ) from error
