"""All streams of a scenario's traffic as one: their records in the order of time, each with its topic."""

from dataclasses import replace
from operator import attrgetter

from devkit.traffic.capture.played_capture import play_capture
from devkit.traffic.model import TrafficSpec
from devkit.traffic.records import GeneratedPage, SourceRecord, Traffic
from devkit.traffic.registry import GENERATORS


def generate_all(spec: TrafficSpec) -> Traffic:
    """Raises UsageError when an `event_bytes` is too small, or the capture cannot be read any more."""
    if spec.from_ is not None:
        return play_capture(spec.from_, spec.wikis, spec.for_)
    records: list[SourceRecord] = []
    pages: list[GeneratedPage] = []
    for topic, generator, stream in spec.each():
        made = GENERATORS[generator](stream, tuple(pages))
        records += (replace(record, topic=topic) for record in made.records)
        pages += made.pages
    in_time = sorted(records, key=attrgetter("at"))
    return Traffic(tuple(replace(one, index=index) for index, one in enumerate(in_time)), tuple(pages))
