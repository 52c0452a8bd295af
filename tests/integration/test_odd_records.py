"""A record from outside, however odd, passes or becomes an error event: no partition stands still for it.

Set-up: topics of CreateTime that take any timestamp, traffic of the kit, and behind it in partition 0 records with odd
timestamps, headers, keys and values, then healthy ones. Each job reads them, by Spark's Kafka source and aligned, with
state and without. Checked: all is committed; each odd record has its one output or error event, and what is healthy
behind them has its own. Then the commands that read records, on the same topic.
"""

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from devkit.debug.program_lag import lag_of
from devkit.debug.record_text import json_object, plain_line
from devkit.debug.tail import TopicTail
from devkit.guardian import Guardian
from devkit.observe.audit.arrivals import Arrival, read_topic
from devkit.stack.stack import Stack
from devkit.stack.topics import recreate_topics
from devkit.traffic.capture.capture_file import CapturedRecord
from devkit.traffic.capture.take import CaptureOrder, take_capture
from devkit.traffic.capture.topic_window import WindowStart
from pipeline.kafka.record_quirks import record_time_ms
from pipeline.ops.source import SourceRecord, opened_topic
from tests.integration.crash.bench import Bench, Run
from tests.integration.odd_records import (
    ANY_TIME,
    BEGIN_MS,
    NO_TIMES,
    OddRecord,
    odd_records,
    take_any_time,
    write_records,
)
from tests.unit.devkit.traffic.capture.captures import read_capture

ROOMS = ("pipeline/aligned", "pipeline/kafka", "pipeline/records", "devkit/debug", "devkit/traffic")
MakeBench = Callable[..., Bench]
TRAFFIC: dict[str, Any] = {"generator": "page_change", "seed": 5, "rate": "400/s", "for": "100ms", "population": 8}
HEADERS = {"pass_headers": ["traceparent"]}
ALIGNED = {**HEADERS, "read": "aligned", "idle_after": "0s"}
REPEATS = {"deduplicate": {"within": "10m"}}
COUNTS = {"job": "edit-counts", "count": {"window": "1m", "delay": "1s"}}
JOBS: dict[str, dict[str, Any]] = {
    "html": {"source": HEADERS},
    "html aligned": {"source": ALIGNED},
    "html aligned without repeats": {"source": {**ALIGNED, **REPEATS}},
    "html without repeats": {"source": {**HEADERS, **REPEATS}},
    "content": {"job": "content-enrichment", "source": HEADERS},
    "content aligned, late ones lapse": {
        "job": "content-enrichment",
        "source": {**ALIGNED, "late": "lapse", "lateness": "1m"},
    },
    "counts aligned": {**COUNTS, "source": {**ALIGNED, "late": "lapse", "lateness": "1s"}},
    "counts": {**COUNTS, "source": HEADERS},
}
MAIN = "html"
WITH_COMMANDS = "html aligned"


def is_wikitext_edit(arrival: Arrival) -> bool:
    try:
        event = json.loads(arrival.value)
        model = event["revision"]["content_slots"]["main"]["content_model"]
    except (ValueError, KeyError, TypeError):
        return False
    return bool(event["page_change_kind"] == "edit" and model == "wikitext" and event["meta"].get("domain") != "canary")


def with_own_id(record: OddRecord, number: int) -> OddRecord:
    """So that none is a repeat of another."""
    try:
        event = json.loads(record.value or b"")
        event["meta"]["id"] = f"5d2f36f8-3b8e-4c36-9c3c-{number:012d}"
    except (ValueError, KeyError, TypeError, RecursionError):
        return record
    return OddRecord(record.key, json.dumps(event).encode(), record.timestamp, record.headers)


def published(bench: Bench) -> dict[int, OddRecord]:
    """What stands in partition 0 behind the traffic, by offset: odd records, and healthy ones of later times."""
    topic = bench.config.source.topic
    take_any_time(bench.bootstrap, topic)
    bench.publish(wait=True)
    traffic = list(read_topic(bench.bootstrap, topic))
    edit = next(one for one in traffic if is_wikitext_edit(one))
    # The traffic's own times are those of its writing.
    now_ms = max(one.timestamp_ms for one in traffic)
    healthy = OddRecord(edit.key, edit.value, now_ms + 1)
    later = [OddRecord(edit.key, edit.value, now_ms + number * 60_000) for number in range(1, 5)]
    records = [with_own_id(one, number) for number, one in enumerate([*odd_records(healthy), *later])]
    begin = sum(one.partition == 0 for one in traffic)
    write_records(bench.bootstrap, topic, 0, records)
    return dict(enumerate(records, begin))


def await_all(bench: Bench, run: Run) -> None:
    end = bench.source_end()
    run.await_condition(
        lambda: sum(bench.committed().values()) >= end and bench.deferred() == 0, "all to be committed, none deferred"
    )


def emitted(bench: Bench) -> dict[tuple[str, int, int], str]:
    """What came of each source event: `output`, or its class of error."""
    found: dict[tuple[str, int, int], str] = {}
    counts = Counter[tuple[str, int, int]]()
    for one in bench.outputs():
        value = orjson.loads(one.value)
        places = [tuple(place) for place in value["events"]] if "events" in value else [one.source]
        for place in places:
            found[place] = "output"
            counts[place] += 1
    for one in bench.errors():
        assert one.source is not None
        found[one.source] = orjson.loads(one.value)["error_type"]
        counts[one.source] += 1
    assert set(counts.values()) <= {1}, counts.most_common(3)
    return found


def fates(name: str, odd: dict[int, OddRecord]) -> dict[int, str]:
    """Of each record: what has to come of it."""
    counts, found = name.startswith("counts"), {}
    for offset, record in odd.items():
        if record.value is None or not record.value.startswith(b"{"):
            found[offset] = "schema_violation" if record.value == b"null" else "malformed_json"
        elif counts and record_time_ms(record.timestamp) is None:
            found[offset] = "record_without_time"
        elif record.key is not None and len(record.key) > 16 * 1024:
            found[offset] = "source_event_too_large"
        else:
            found[offset] = "output"
    return found


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=() if one == MAIN else pytest.mark.slow) for one in JOBS if one != WITH_COMMANDS],
)
def test_each_passes_or_becomes_an_error_event(make_bench: MakeBench, name: str) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=JOBS[name])
    assert_each_leaves(bench, name, published(bench))


def assert_each_leaves(bench: Bench, name: str, odd: dict[int, OddRecord]) -> None:
    """Run the job until each record has its output or error event."""
    topic, aligned = bench.config.source.topic, bench.config.source.read == "aligned"
    unsafe = (
        ["--allow-unsafe"] if "state" not in name and not aligned and ("counts" in name or "repeats" in name) else []
    )
    run = bench.start(*unsafe)
    if not aligned:
        nanoseconds = next(offset for offset, one in odd.items() if one.timestamp == NO_TIMES[0])
        assert run.await_end() == 1
        (failed,) = run.logged("failed")
        assert f"record {topic}/0/{nanoseconds} has the timestamp {NO_TIMES[0]}" in json.dumps(failed)
        run = bench.start(*unsafe)
    await_all(bench, run)
    expected = fates(name, odd)
    if name.startswith("counts"):
        # The last windows wait for events of later times.
        expected = {
            offset: fate
            for offset, fate in expected.items()
            if (record_time_ms(odd[offset].timestamp) or 0) < odd[max(odd)].timestamp - 60_000
        }
    if name == "counts":  # which is unsafe: Spark drops what is late, as is what has no time
        expected = {
            offset: fate for offset, fate in expected.items() if (record_time_ms(odd[offset].timestamp) or 0) > BEGIN_MS
        }
    if aligned and "lapse" in str(JOBS[name]):
        expected = {offset: fate for offset, fate in expected.items() if odd[offset].timestamp != BEGIN_MS // 1000}

    run.await_condition(
        lambda: expected.keys() <= {place[2] for place in emitted(bench) if place[:2] == (topic, 0)},
        "each record to have left",
    )
    assert run.terminate() == 0, run.process.last_words(20)
    found = emitted(bench)
    assert {offset: found[topic, 0, offset] for offset in expected} == expected


def whole(bootstrap: str, topic: str) -> list[SourceRecord]:
    with opened_topic(bootstrap, topic) as opened:
        bounds = opened.bounds()
        return list(opened.records(bounds.first, bounds.end))


def raw_headers(record: SourceRecord, without: str = "\0\0") -> list[tuple[bytes, bytes | None]]:
    """As they stand in the record; none whose name begins with `without`."""
    return [(name.encode(), value) for name, value in record.headers if not name.startswith(without)]


def test_each_passes_or_becomes_an_error_event_and_the_commands_read_them(
    make_bench: MakeBench, tmp_path: Path
) -> None:
    bench = make_bench(traffic=TRAFFIC, rules=[], settings=JOBS[WITH_COMMANDS])
    topic, bootstrap = bench.config.source.topic, bench.bootstrap
    odd = published(bench)
    assert_each_leaves(bench, WITH_COMMANDS, odd)
    bench.end()
    # What waits begins with a record whose time lies far ahead.
    write_records(bootstrap, topic, 0, odd_records(next(iter(odd.values()))))
    source = whole(bootstrap, topic)
    waiting = len(source) - sum(bench.committed().values())

    def says(*arguments: str) -> str:
        result = bench.command(*arguments)
        assert result.returncode == 0, result.stdout + result.stderr
        return result.stdout

    assert says("lag").splitlines()[-1].split() == ["all", str(waiting), "0.0"]
    assert "can continue" in says("checkpoint", "verify")
    fresh = str(tmp_path / "checkpoint")
    moved = says("checkpoint", "set-offsets", "--at", "2026-01-01T00:00:00Z", "--stopped", "--into", fresh)
    assert f"{len(source) - waiting} events come again, 0 are passed over" in moved
    assert len(says("consume").splitlines()) == sum(found == "output" for found in emitted(bench).values())
    copies, fanned = f"{topic}.copy", f"{topic}.fan-out"
    recreate_topics(bootstrap, {copies: (len({one.partition for one in source}), {})})
    says("replay", "--from", "earliest", "--to", "latest", "--into", copies, "--rate", "10000")
    says("fan-out", topic, fanned, "--partitions", "3")
    for copied, mark in ((copies, "replayed-"), (fanned, "copied-from")):
        found = whole(bootstrap, copied)
        assert len(found) == len(source)
        if copied == copies:
            assert [raw_headers(one, mark) for one in found] == [without_null(raw_headers(one)) for one in source]

    with TopicTail(bootstrap, topic) as tail:
        last = tail.last(len(source))
    assert len(last) == len(source)
    for record in last:
        assert plain_line(record).isprintable()
        json.dumps(json_object(record, whole=True))
    lag = lag_of(bench.config, bench._checkpoint, bootstrap=bootstrap, now_ms=BEGIN_MS)
    assert lag.total == waiting
    assert [one.behind_s for one in lag.partitions if one.lag] == [None]


def without_null(headers: list[tuple[bytes, bytes | None]]) -> list[tuple[bytes, bytes | None]]:
    """As a job sees them: a null one takes those of its name away that stand before it."""
    kept: list[tuple[bytes, bytes | None]] = []
    for name, value in headers:
        kept = [one for one in kept if one[0] != name] if value is None else [*kept, (name, value)]
    return kept


def test_a_capture_of_the_past_has_what_stands_behind_them(stack: tuple[Guardian, Stack], tmp_path: Path) -> None:
    bootstrap, topic = stack[1].kafka.bootstrap, "odd.captured"
    recreate_topics(bootstrap, {topic: (1, ANY_TIME)})
    healthy = OddRecord(b"key", b'{"n": 1}')
    later = replace(healthy, value=b'{"n": 2}', timestamp=BEGIN_MS + 3_600_000)
    records = [healthy, *odd_records(healthy), later]
    write_records(bootstrap, topic, 0, records)

    def taken(start: WindowStart) -> list[CapturedRecord]:
        out = tmp_path / f"{start!s:.10}.jsonl"
        order = CaptureOrder(bootstrap, (topic,), start, timedelta(days=1), 1000, 1 << 30, keep_text=False)
        assert take_capture(order, out, stop=lambda: False).ended_by == "time"
        return read_capture(out).records

    assert len(taken("earliest")) == len(records)
    begin = datetime.fromtimestamp(BEGIN_MS / 1000 + 1800, UTC)
    assert [one.event for one in taken(begin)] == [{"n": 2}], "Kafka names the record of the nanoseconds"
