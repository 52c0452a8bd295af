"""All streams of a scenario's traffic as one: their records in the order in which they are published, each with its
topic.

    happened ── pauses and delays hold back ──> in order ── pace ──> published
        └── shift ──> meta.dt, and the record's own time
"""

from dataclasses import replace
from datetime import timedelta
from operator import attrgetter

from devkit.traffic.capture.played_capture import play_capture
from devkit.traffic.event_time import held_back, timestamp_ms
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import DumpedEntities, GeneratedPage, SourceRecord, Traffic
from devkit.traffic.registry import GENERATORS
from devkit.traffic.stream import Stream


def generate_all(spec: TrafficSpec) -> Traffic:
    """Raises UsageError when an `event_bytes` is too small, or the capture cannot be read any more."""
    if spec.from_ is not None:
        return play_capture(spec.from_, spec.wikis, spec.for_)
    own = spec.own_event_time
    records: list[SourceRecord] = []
    pages: list[GeneratedPage] = []
    dump: DumpedEntities | None = None
    for topic, generator, stream in spec.each():
        generated = GENERATORS[generator](stream, tuple(pages))
        of_topic = (replace(record, topic=record.topic or topic) for record in generated.records)
        if own is None:
            records += (replace(record, at=record.at + record.delay) for record in of_topic)
        else:
            records += (_at_its_time(record, stream) for record in of_topic)
        pages += generated.pages
        dump = dump or generated.dump
    if own is not None:
        end = max((record.at for record in records if not record.closes), default=timedelta(0))
        records = [replace(record, at=end) if record.closes else record for record in records]
    in_time = sorted(records, key=attrgetter("closes", "at"))
    if own is not None:
        in_time = [replace(record, at=own.after(record.at)) for record in in_time]
    return Traffic(tuple(replace(record, index=index) for index, record in enumerate(in_time)), tuple(pages), dump)


def _at_its_time(record: SourceRecord, stream: Stream) -> SourceRecord:
    """With the time of the event as its own, published when no pause holds it back."""
    happened, expected = record.at, record.expected
    if any(pause.may_lapse and pause.holds(happened) for pause in stream.pauses):
        expected = expected.model_copy(update={"may_lapse": True})
    return replace(
        record,
        at=held_back(happened, stream.pauses) + record.delay,
        timestamp_ms=timestamp_ms(happened, stream.shift),
        expected=expected,
    )
