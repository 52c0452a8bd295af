"""Takes a capture: reads a window of topics, replaces names and text, and writes the file."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import orjson

from devkit.errors import StackError
from devkit.stack.client_settings import PLAIN, ClientSettings
from devkit.stack.topic_reader import TopicRecord
from devkit.traffic.capture.capture_file import CapturedRecord, CaptureSource, EndedBy, Unparsed
from devkit.traffic.capture.capture_writer import CaptureWriter
from devkit.traffic.capture.replacement import Replacement
from devkit.traffic.capture.stand_ins import StandIns
from devkit.traffic.capture.topic_window import TopicWindow, WindowStart

_MOST_DIGITS = 20


@dataclass(frozen=True)
class Taken:
    """How many records and bytes the file has, and why it has no more."""

    events: int
    bytes: int
    ended_by: EndedBy


@dataclass(frozen=True)
class CaptureOrder:
    """What is to be captured: for the time `span`, from `start` on, at most `max_events`, in a file of `max_bytes`."""

    bootstrap: str
    topics: tuple[str, ...]
    start: WindowStart
    span: timedelta
    max_events: int
    max_bytes: int
    keep_text: bool
    client: ClientSettings = PLAIN


def take_capture(
    order: CaptureOrder, out: Path, *, stop: Callable[[], bool], tell: Callable[[int], None] = lambda _: None
) -> Taken:
    """Returns what is in the file. `tell` hears how many records there are so far, about twice a second.

    Each record is in the file as it comes. Whatever ends it, what was read until then is in the file; only then
    StackError is raised. Raises UsageError, and DevkitError where the file cannot be written.
    """
    replacement = Replacement(stand_ins := StandIns())
    with closing(TopicWindow(order.bootstrap, order.topics, order.start, order.span, order.client)) as window:
        start = order.start if isinstance(order.start, str) else order.start.isoformat()
        source = {"kafka": order.bootstrap, "topics": window.partitions, "from": start, "began": datetime.now(UTC)}
        header = CaptureSource.model_validate(source)
        with CaptureWriter(out, header, text_kept=order.keep_text, most_bytes=order.max_bytes) as writer:

            def is_enough() -> bool:
                return writer.is_full or writer.count >= order.max_events

            def finish(ended_by: EndedBy) -> Taken:
                writer.finish(ended_by, dict(replacement.fields.most_common()))
                return Taken(writer.count, writer.bytes, ended_by)

            try:
                for record in window.records(lambda: stop() or is_enough()):
                    if record is None:
                        writer.flush()
                        tell(writer.count)
                    elif not is_enough():
                        writer.add(captured(record, None if order.keep_text else replacement, stand_ins))
            except StackError:
                finish("error")
                raise
            if is_enough():
                return finish("size" if writer.is_full else "count")
            return finish("interrupt" if stop() else "time")


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
            "timestamp_ms": record.timestamp_ms,
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
