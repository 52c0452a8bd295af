"""A capture as a file: JSON Lines, a header and a line for each record, partition by partition in the topic's order.

{"devkit_capture": 1, "source": {…}, "ended_by": "time", "counts": {…}, "replaced": {…}}
{"topic": "…", "partition": 0, "offset": 17, "timestamp_ms": 1772442000150, "key": "…", "bytes": 1204, "event": {…}}
{"topic": "…", "partition": 0, "offset": 18, "timestamp_ms": 1772442000201, "key": null, "bytes": 7,
 "unparsed": {"digest": "…", "reason": "…"}}
"""

import os
import shutil
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Any, Literal, Self, TypeVar

import orjson
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from devkit.errors import InvalidFileError, Problem, UsageError
from located_config.problem import in_line

CAPTURE_VERSION = 1
_PART = ".part"
_PRIVATE = 0o600
_MOST_PROBLEMS = 10
LATEST_MS = 253_402_300_799_999
"""The end of the year 9999, the last that a time can lie in here."""

M = TypeVar("M", bound=BaseModel)

EndedBy = Literal["time", "count", "interrupt", "error"]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CaptureSource(_Model):
    """Where the events are from: topics with their numbers of partitions, first the one that was named first."""

    kafka: str
    topics: Annotated[dict[str, Annotated[int, Field(ge=1)]], Field(min_length=1)]
    from_: str = Field(alias="from")
    began: AwareDatetime
    ended: AwareDatetime


class CaptureCounts(_Model):
    """`bytes` are those of all values as they were read; `by_partition` counts records as `topic/partition`."""

    events: int = Field(ge=0)
    unparsed: int = Field(ge=0)
    bytes: int = Field(ge=0)
    by_partition: dict[str, int]


class Replaced(_Model):
    """How often what stands at a place of an event was replaced; none where names and text were kept."""

    text_kept: bool
    fields: dict[str, int]


class CaptureHeader(_Model):
    """The first line."""

    devkit_capture: int
    source: CaptureSource
    ended_by: EndedBy
    counts: CaptureCounts
    replaced: Replaced

    @model_validator(mode="after")
    def _known_version(self) -> Self:
        if self.devkit_capture != CAPTURE_VERSION:
            raise PydanticCustomError(
                "capture_version",
                "version {version} of the format is not known, version {known} is",
                {"version": self.devkit_capture, "known": CAPTURE_VERSION, "hint": "take the capture anew"},
            )
        return self


class Unparsed(_Model):
    """Of a value that is no JSON: a digest that tells equal ones, and why it is none."""

    digest: str
    reason: str


class CapturedRecord(_Model):
    """A record of the topic: `bytes` is the length of its value as it was read."""

    topic: str
    partition: int = Field(ge=0)
    offset: int = Field(ge=0)
    timestamp_ms: int = Field(ge=0, le=LATEST_MS)
    key: str | None
    bytes: int = Field(ge=0)
    event: Any = None
    unparsed: Unparsed | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if ("event" in self.model_fields_set) == (self.unparsed is not None):
            raise PydanticCustomError(
                "captured", "neither or both of event and unparsed", {"hint": "each line has one of them"}
            )
        return self


@dataclass(frozen=True)
class Capture:
    """A file that was read."""

    path: Path
    header: CaptureHeader
    records: tuple[CapturedRecord, ...]


class CaptureWriter:
    """Writes records as they come, and the header, which counts them, in front when it is `finish`ed.

    As a context manager: without `finish`, no file is left. Only its owner can read the file.
    """

    def __init__(self, path: Path) -> None:
        self._path, self._part = path, path.with_name(path.name + _PART)
        self._unparsed = self._bytes = 0
        self.by_partition: Counter[str] = Counter()
        if path.exists():
            raise UsageError(f"{path} is there already", hint="choose another file with --out")
        try:
            self._body = open(os.open(self._part, os.O_RDWR | os.O_CREAT | os.O_TRUNC, _PRIVATE), "w+b")  # noqa: PTH123, SIM115
        except OSError as error:
            raise UsageError(f"{path} cannot be written: {error.strerror}", hint="choose another with --out") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._body.close()
        self._part.unlink(missing_ok=True)

    @property
    def count(self) -> int:
        """Records so far."""
        return self.by_partition.total()

    def add(self, record: CapturedRecord) -> None:
        """Writes a line."""
        self._body.write(orjson.dumps(record.model_dump(exclude_unset=True)) + b"\n")
        self.by_partition[f"{record.topic}/{record.partition}"] += 1
        self._bytes += record.bytes
        self._unparsed += record.unparsed is not None

    def finish(self, source: CaptureSource, ended_by: EndedBy, *, text_kept: bool, fields: Mapping[str, int]) -> None:
        """Puts the file in its place; nothing can be added then."""
        counts = CaptureCounts(
            events=self.count, unparsed=self._unparsed, bytes=self._bytes, by_partition=dict(self.by_partition)
        )
        header = CaptureHeader(
            devkit_capture=CAPTURE_VERSION,
            source=source,
            ended_by=ended_by,
            counts=counts,
            replaced=Replaced(text_kept=text_kept, fields=dict(fields)),
        )
        whole = self._path.with_name(self._path.name + ".new")
        with open(os.open(whole, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, _PRIVATE), "wb") as file:  # noqa: PTH123
            file.write(header.model_dump_json(by_alias=True).encode() + b"\n")
            self._body.seek(0)
            shutil.copyfileobj(self._body, file)
        whole.replace(self._path)


def read_capture(path: Path) -> Capture:
    """Raises UsageError where there is no such file, InvalidFileError naming each line that is wrong."""
    try:
        lines = path.read_bytes().split(b"\n")
    except OSError as error:
        hint = "`devkit capture` makes one; the path is relative to the scenario's file"
        raise UsageError(f"the capture {path} cannot be read: {error.strerror}", hint=hint) from error
    problems: list[Problem] = []
    header = _parsed(CaptureHeader, lines[0], 1, problems)
    records = tuple(_records(lines, problems))
    if header is not None and not problems and header.counts.events != len(records):
        text = f"it has {len(records)} records, and its header counts {header.counts.events}"
        problems.append(Problem(1, 1, f"counts.events: {text}; part of the file may be missing"))
    if problems or header is None:
        raise InvalidFileError(path, problems[:_MOST_PROBLEMS], hint="`devkit capture` makes such a file")
    return Capture(path, header, records)


def _records(lines: list[bytes], problems: list[Problem]) -> Iterator[CapturedRecord]:
    for number, line in enumerate(lines[1:], 2):
        if len(problems) >= _MOST_PROBLEMS:
            return
        if line and (record := _parsed(CapturedRecord, line, number, problems)) is not None:
            yield record


def _parsed(model: type[M], line: bytes, number: int, problems: list[Problem]) -> M | None:
    try:
        return model.model_validate(document := orjson.loads(line))
    except orjson.JSONDecodeError as error:
        problems.append(Problem(number, error.colno, f"is not JSON: {error.msg}"))
    except ValidationError as error:
        problems.append(Problem(number, 1, in_line(error, model, document)))
    return None
