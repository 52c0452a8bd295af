"""The one timeline of a run: `events.jsonl`, a line for each thing that happened or was sampled, in order.

Its events are the kit's (`kit_events`), those of the pipeline, and unknown lines of other programs; each is written
and read back as the same class. A line has the time (`t_s`, seconds since the run began), the event's name (`kind`),
perhaps its arm and its program, and the event's fields.
"""

import json
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Annotated, Self

from pydantic import BaseModel, Field, JsonValue, TypeAdapter, ValidationError

from devkit.observe.logs.logs import UnknownLine
from devkit.observe.timeline.kit_events import KitEvent
from located_config.redaction import redacted
from pipeline.events import PipelineEvent, fields_of

TimelineEvent = KitEvent | PipelineEvent | UnknownLine
_EVENTS: TypeAdapter[KitEvent | PipelineEvent] = TypeAdapter(
    Annotated[KitEvent | PipelineEvent, Field(discriminator="event")]
)
_HEAD = ("t_s", "kind", "arm", "program")


@dataclass(frozen=True)
class TimelineEntry:
    """A line: what happened, when, in which arm if it was in one, and of which program where the arm has several."""

    t_s: float
    event: TimelineEvent
    arm: str | None = None
    program: str | None = None


class Timeline:
    """Times are seconds since the run began. Safe to use from several threads."""

    def __init__(self, path: Path, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._started = clock()
        # A path in a message may have bytes that are no text: a "?" for them is better than no line.
        self._file = path.open("a", encoding="utf-8", errors="replace")
        self._lock = threading.Lock()

    def now_s(self) -> float:
        """Not rounded, while the lines of the file have milliseconds."""
        return self._clock() - self._started

    def add(self, event: TimelineEvent, *, arm: str | None = None, program: str | None = None) -> None:
        """Write one line without secrets, and flush it: a killed run keeps its lines."""
        with self._lock:  # the time as well, or lines of two threads could stand out of order
            line = redacted(line_of(TimelineEntry(round(self.now_s(), 3), event, arm, program)))
            self._file.write(json.dumps(line, ensure_ascii=False) + "\n")
            self._file.flush()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def line_of(entry: TimelineEntry) -> dict[str, object]:
    """The fields of the line in the file."""
    event = entry.event
    if isinstance(event, UnknownLine):
        fields: dict[str, object] = {name: value for name, value in event.fields.items() if name not in _HEAD}
    elif isinstance(event, BaseModel):
        fields = event.model_dump(mode="json", exclude={"event"})
    else:
        fields = fields_of(event)
    of = {name: value for name, value in (("arm", entry.arm), ("program", entry.program)) if value}
    return {"t_s": entry.t_s, "kind": event.event, **of, **fields}


def read_timeline(file: Path) -> Iterator[TimelineEntry]:
    """Skips lines that cannot be read: a killed run may end in half of one. Raises OSError."""
    with file.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            try:
                parsed = json.loads(line)
            except ValueError:
                continue
            if isinstance(parsed, dict) and isinstance(parsed.get("kind"), str) and _is_time(parsed.get("t_s")):
                yield _entry(parsed)


def _entry(line: dict[str, JsonValue]) -> TimelineEntry:
    name, t_s, arm, program = line["kind"], line["t_s"], line.get("arm"), line.get("program")
    assert isinstance(name, str)
    assert isinstance(t_s, int | float)
    fields = {key: value for key, value in line.items() if key not in _HEAD}
    event: TimelineEvent
    try:
        # As JSON, since only there strict lists are good for tuples.
        event = _EVENTS.validate_json(json.dumps({"event": name} | fields), strict=True)
    except ValidationError:
        event = UnknownLine(name, fields)
    return TimelineEntry(
        float(t_s), event, arm if isinstance(arm, str) else None, program if isinstance(program, str) else None
    )


def _is_time(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
