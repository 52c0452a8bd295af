"""Takes a capture: reads a window of topics, replaces names and text, and writes the file."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from devkit.errors import StackError
from devkit.stack.topic_reader import TopicRecord
from devkit.traffic.capture.capture_file import (
    LATEST_MS,
    CapturedRecord,
    CaptureSource,
    CaptureWriter,
    EndedBy,
    Unparsed,
)
from devkit.traffic.capture.replacement import Replacement
from devkit.traffic.capture.stand_ins import StandIns
from devkit.traffic.capture.topic_window import TopicWindow, WindowStart

_MOST_DIGITS = 20


@dataclass(frozen=True)
class CaptureOrder:
    """What is to be captured: at most `max_events`, for the time `span`, from `start` on."""

    bootstrap: str
    topics: tuple[str, ...]
    start: WindowStart
    span: timedelta
    max_events: int
    keep_text: bool


def take_capture(
    order: CaptureOrder, out: Path, *, stop: Callable[[], bool], tell: Callable[[int], None] = lambda _: None
) -> int:
    """Returns how many records are in the file. `tell` hears how many there are so far, about twice a second.

    Whatever ends it, what was read until then is in the file; only then StackError is raised. Raises UsageError.
    """
    replacement = Replacement(stand_ins := StandIns())
    with (
        CaptureWriter(out) as writer,
        closing(TopicWindow(order.bootstrap, order.topics, order.start, order.span)) as window,
    ):
        began = datetime.now(UTC)

        def finish(ended_by: EndedBy) -> None:
            start = order.start if isinstance(order.start, str) else order.start.isoformat()
            source = CaptureSource.model_validate(
                {
                    "kafka": order.bootstrap,
                    "topics": window.partitions,
                    "from": start,
                    "began": began,
                    "ended": datetime.now(UTC),
                }
            )
            writer.finish(source, ended_by, text_kept=order.keep_text, fields=dict(replacement.fields.most_common()))

        try:
            for record in window.records(lambda: stop() or writer.count >= order.max_events):
                if record is None:
                    tell(writer.count)
                elif writer.count < order.max_events:
                    writer.add(captured(record, None if order.keep_text else replacement, stand_ins))
        except StackError:
            finish("error")
            raise
        finish("count" if writer.count >= order.max_events else "interrupt" if stop() else "time")
        return writer.count


def captured(record: TopicRecord, replacement: Replacement | None, stand_ins: StandIns) -> CapturedRecord:
    """A record as the file has it; without a `replacement` names and text stay."""
    event: dict[str, object]
    try:
        if record.value is None:
            raise ValueError("the record has no value")  # noqa: TRY301
        document = orjson.loads(record.value)
        event = {"event": document if replacement is None else replacement.event(document)}
        if b"e+" in orjson.dumps(event):
            json.loads(record.value, parse_int=_of_64_bits)
    except (RecursionError, orjson.JSONEncodeError):  # read, but too deep to be gone through or to be written
        event = _unparsed(record.value, "is nested too deeply", stand_ins)
    except ValueError as error:  # orjson's errors are among them
        event = _unparsed(record.value, str(error), stand_ins)
    return CapturedRecord.model_validate(
        {
            "topic": record.topic,
            "partition": record.partition,
            "offset": record.offset,
            "timestamp_ms": min(max(record.timestamp_ms, 0), LATEST_MS),
            "key": None if record.key is None else _key(record.key, replacement),
            "bytes": len(record.value or b""),
            **event,
        }
    )


def _of_64_bits(digits: str) -> int:
    """What is larger was read as a float, which is another number."""
    if len(digits) > _MOST_DIGITS or not -(2**63) <= int(digits) < 2**64:
        raise ValueError("an integer is beyond 64 bits")
    return 0


def _key(key: bytes, replacement: Replacement | None) -> str:
    return key.decode(errors="replace") if replacement is None else replacement.key(key)


def _unparsed(value: bytes | None, reason: str, stand_ins: StandIns) -> dict[str, object]:
    return {"unparsed": Unparsed(digest=stand_ins.digest(value or b""), reason=reason)}
