"""Traffic at a pace below what the contestant can do: how long an event takes from its append to its output's.

Both times are the broker's own, so no clock of ours is in it. The contestant is warmed with events of its own first.
"""

import re
import statistics
import threading
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from benchmarks.engine.contestant import Contestant, Place
from benchmarks.engine.race import DEADLINE
from benchmarks.engine.stack import BenchStack
from benchmarks.engine.topic_log import TopicLog
from benchmarks.engine.workload import SourceEvent, Workload
from devkit.guardian import ManagedProcess
from devkit.stack.parts.part_life import require_running
from devkit.stack.topics import remove_topics
from devkit.waiting import wait_until

_OUTPUT_IDS = uuid.uuid5(uuid.NAMESPACE_URL, "urn:enrichment:html-content-change")
_ID = re.compile(rb'"id":"([0-9a-f-]{36})"')
_PREFIX_BYTES = 1024
_LOOK = timedelta(milliseconds=250)
_WARMING = 1_000_000  # the indices of warming events begin here
_WARMING_S = 5.0


@dataclass(frozen=True)
class Latencies:
    """In seconds, of healthy events only. `asked` and `reached` are the source's events a second."""

    contestant: str
    events: int
    p50: float
    p90: float
    p99: float
    most: float
    asked: float
    reached: float

    def figures(self) -> dict[str, float]:
        return {
            "events": self.events,
            "p50_s": round(self.p50, 3),
            "p90_s": round(self.p90, 3),
            "p99_s": round(self.p99, 3),
            "most_s": round(self.most, 3),
            "events_a_second_asked": self.asked,
            "events_a_second_reached": round(self.reached, 1),
        }

    def __str__(self) -> str:
        return (
            f"p50 {self.p50:.3f} s  p90 {self.p90:.3f} s  p99 {self.p99:.3f} s  most {self.most:.3f} s  "
            f"({self.events} events, {self.reached:.1f}/s)"
        )


def paced(
    contestant: Contestant,
    stack: BenchStack,
    workload: Workload,
    *,
    per_second: float,
    directory: Path,
    slow: frozenset[int] = frozenset(),
) -> Latencies:
    """All events of the workload at that pace. Latencies are those of pages that are not `slow`. Raises DevkitError."""
    directory.mkdir(parents=True, exist_ok=True)
    source = f"paced-{uuid.uuid4().hex[:6]}"
    stack.make_source(source)
    slow_keys = {workload.event(page).key for page in slow}
    with stack.topics(source) as topics:
        out, errors = stack.log(topics.out), stack.log(topics.errors)
        processes = contestant.start(Place(stack, topics, workload.count, directory))
        try:
            warming = _warming(workload, slow, round(per_second * _WARMING_S))
            stack.fill(source, warming, per_second=per_second)
            _await(
                processes,
                out,
                errors,
                {event.event_id for event in warming},
                f"{contestant.name} to be warm",
                slow_keys,
            )
            events = list(workload.events())
            filling = threading.Thread(target=stack.fill, args=[source, events], kwargs={"per_second": per_second})
            begun_s = time.monotonic()
            filling.start()
            filling.join()
            reached = len(events) / (time.monotonic() - begun_s)
            healthy = {event.event_id for event in events if event.page not in slow}
            _await(processes, out, errors, healthy, f"{contestant.name} to be done", slow_keys)
        finally:
            for process in processes:
                process.kill_tree()
        took = _latencies(stack.log(source), out, healthy)
    remove_topics(stack.kafka.bootstrap, [source])
    cuts = statistics.quantiles(took, n=100, method="inclusive")
    return Latencies(contestant.name, len(took), cuts[49], cuts[89], cuts[98], max(took), per_second, reached)


def _warming(workload: Workload, slow: frozenset[int], count: int) -> list[SourceEvent]:
    found: list[SourceEvent] = []
    index = _WARMING
    while len(found) < count:
        event = workload.event(index)
        if event.page not in slow:
            found.append(event)
        index += 1
    return found


def _await(
    processes: Sequence[ManagedProcess], out: TopicLog, errors: TopicLog, events: set[str], what: str, slow: set[bytes]
) -> None:
    """Until there are outputs of all of these. Only what has a key of `slow` may have become an error."""
    missing = {str(uuid.uuid5(_OUTPUT_IDS, event)) for event in events}

    def is_done() -> bool:
        for process in processes:
            require_running(process)
        errors.look()
        if unexpected := [record.value for record in errors.records() if record.key not in slow]:
            raise ValueError(f"{len(unexpected)} error events; the first: {unexpected[0]!r:.500}")
        known = len(out.batches)
        out.look()
        for record in out.records(value_bytes=_PREFIX_BYTES, since=known):
            missing.discard(_id(record.value))
        return not missing

    for record in out.records(value_bytes=_PREFIX_BYTES):
        missing.discard(_id(record.value))
    wait_until(is_done, what=what, deadline=DEADLINE, interval=_LOOK)


def _latencies(source: TopicLog, out: TopicLog, events: set[str]) -> list[float]:
    source.look()
    appended = {_id(record.value): record.at_ms for record in source.records(value_bytes=_PREFIX_BYTES)}
    output_of = {str(uuid.uuid5(_OUTPUT_IDS, event)): event for event in events}
    took: dict[str, float] = {}
    for record in out.records(value_bytes=_PREFIX_BYTES):
        event = output_of.get(_id(record.value))
        if event is not None and event not in took:
            took[event] = (record.at_ms - appended[event]) / 1000
    return list(took.values())


def _id(value: bytes | None) -> str:
    match = _ID.search(value or b"")
    return match[1].decode() if match else ""
