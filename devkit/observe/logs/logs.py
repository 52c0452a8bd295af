"""Logs of a pipeline process: events on standard output, exceptions and its workers' lines on standard error.

Texts in them are shortened as they are read, so that no part of the kit repeats megabytes; the log has all of them.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pydantic import JsonValue, TypeAdapter, ValidationError
from pydantic_core import from_json

from devkit.short_text import shorten
from pipeline.events import EVENT_CLASSES, PipelineEvent

_LONGEST_TEXT = 2000
"""Characters of a text in an event, and of the message of an exception."""

# A nested class is named behind its outer one, `KafkaOffsets$StaleException`; a message may be missing.
_EXCEPTION = re.compile(r"(?:^|: )(?:[a-z_]\w*\.)+(?:\w+\$)*([A-Z]\w*(?:Exception|Error))(?:: (.+)|$)")

_TRACEBACK = "Traceback (most recent call last):"
_OF_TRACEBACK = re.compile(r"(?:\w+\.)*([A-Z]\w*)(?:: (.+)|$)")
"""The first line behind a Python traceback that is not indented: a class that is built in has no package there."""

_EVENTS: TypeAdapter[PipelineEvent] = TypeAdapter(PipelineEvent)

_CONFIGURATION = "configuration"

LOGGED = frozenset(EVENT_CLASSES)
"""The events of the pipeline by name."""


@dataclass(frozen=True)
class LoggedException:
    """An exception in a log: the class without its package, and the beginning of the first line of its message."""

    process: int
    class_name: str
    message: str

    def __str__(self) -> str:
        return f"process {self.process}: {self.class_name}: {self.message}"


def exceptions_in(log: Path, process: int) -> tuple[LoggedException, ...]:
    """Each distinct exception of a process's log, in the order of first appearance."""
    exceptions: dict[LoggedException, None] = {}
    in_traceback = False
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            for text in map(str.rstrip, lines):
                match = _EXCEPTION.search(text)
                if in_traceback and text and not text[0].isspace():
                    in_traceback, match = False, match or _OF_TRACEBACK.match(text)
                in_traceback |= text.endswith(_TRACEBACK)
                if match:
                    exceptions[LoggedException(process, match[1], shorten(match[2] or "", _LONGEST_TEXT))] = None
    except FileNotFoundError:
        return ()
    return tuple(exceptions)


@dataclass(frozen=True)
class UnknownLine:
    """An event of another program, or with other fields than the pipeline's; kept as it was."""

    event: str
    fields: Mapping[str, JsonValue]


class LineTail:
    """Reads the events that a growing file has gained since the last look; `only` those with these names, if any are
    given.
    """

    def __init__(self, path: Path, only: Collection[str] = ()) -> None:
        self._path, self._only = path, only
        self._offset = 0

    def new_events(self) -> Iterator[PipelineEvent | UnknownLine]:
        """Of whole lines, and of a last one that only lacks its newline: its program may have ended without one.

        What is not a JSON object with an `event` (a library that prints) is left out.
        """
        try:
            with self._path.open("rb") as file:
                file.seek(self._offset)
                data = file.read()
        except FileNotFoundError:
            return
        end = data.rfind(b"\n") + 1
        self._offset += end
        for line in data[:end].splitlines():
            if (event := self._event(line)) is not None:
                yield event
        # No part of an object is an object: a line of which half is written stays for the next look.
        if (event := self._event(data[end:])) is not None:
            self._offset += len(data) - end
            yield event

    def _event(self, line: bytes) -> PipelineEvent | UnknownLine | None:
        # Most of Spark's log is no object, and need not be parsed to know.
        event = _event(line) if line.startswith(b"{") or not self._only else None
        return event if event is not None and (not self._only or event.event in self._only) else None


def _event(line: bytes) -> PipelineEvent | UnknownLine | None:
    if len(line) > _LONGEST_TEXT:
        line = _shorten_texts(line)
    try:
        return _EVENTS.validate_json(line, strict=True)
    except ValidationError:
        pass
    try:
        # Half a surrogate pair, which JSON can escape and no file can hold, comes out as "?". What is nested deeper
        # than pydantic takes could not be read back from the timeline either.
        parsed = from_json(json.dumps(json.loads(line), ensure_ascii=False).encode(errors="replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(parsed, dict) or not isinstance(parsed.get("event"), str):
        return None
    return UnknownLine(parsed["event"], {name: value for name, value in parsed.items() if name not in ("event", "at")})


def _shorten_texts(line: bytes) -> bytes:
    """The line of an event with shorter texts; as it is where it is none, or an effective configuration, of which
    values are compared.
    """
    try:
        parsed = json.loads(line)
        if isinstance(parsed, dict) and parsed.get("event") != _CONFIGURATION:
            return json.dumps(_shortened(parsed)).encode()
    except (ValueError, RecursionError):
        pass
    return line


def _shortened(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return shorten(value, _LONGEST_TEXT)
    if isinstance(value, list):
        return [_shortened(item) for item in value]
    return {key: _shortened(item) for key, item in value.items()} if isinstance(value, dict) else value
