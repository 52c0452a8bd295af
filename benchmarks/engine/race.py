"""One run of one contestant: started on fresh topics, followed by the broker's own log, and then ended.

    started ──▶ first output ── 10 % ────── steady ────── 95 % ── last output
    └──────────────────────────── whole ──────────────────────────────────┘

`steady` leaves out start-up and the tail, `appending` goes from the first output's append to the last's, `whole` has
all, a JVM's start and the first micro-batch included. Nobody is favoured by the choice: all three are reported.
"""

import hashlib
import re
import time
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path

from benchmarks.engine.contestant import Contestant, Place
from benchmarks.engine.stack import BenchStack
from benchmarks.engine.topic_log import TopicLog
from benchmarks.engine.usage import Usage, UsageWatch
from devkit.stack.parts.part_life import require_running
from devkit.waiting import wait_until

DEADLINE = timedelta(minutes=9)
STEADY = (0.10, 0.95)
_LOOK = timedelta(milliseconds=250)
_SAMPLE = 20
_ID = re.compile(rb'"id":"([0-9a-f-]{36})"')


@dataclass(frozen=True)
class Outcome:
    """Rates in events a second. `cpu_ms` are processor milliseconds an event, of all that took part and over the whole;
    `steady_cpu_ms` those of the steady part, by role: what start-up costs is not in them.
    """

    contestant: str
    events: int
    outputs: int
    errors: int
    whole: float
    appending: float
    steady: float
    first_output_s: float
    cpu_ms: float
    usage: Usage
    sample: str
    steady_cpu_ms: Mapping[str, float] = field(default_factory=dict)

    def figures(self) -> dict[str, object]:
        """As they are kept: by role processor milliseconds an event, peak memory in MiB."""
        return {
            "steady": round(self.steady, 1),
            "appending": round(self.appending, 1),
            "whole": round(self.whole, 1),
            "first_output_s": round(self.first_output_s, 2),
            "errors": self.errors,
            "cpu_ms_an_event": round(self.cpu_ms, 3),
            "steady_cpu_ms_an_event": {role: round(ms, 3) for role, ms in self.steady_cpu_ms.items()},
            "by_role": {
                role: {
                    "cpu_ms_an_event": round(used.cpu_s * 1000 / self.events, 3),
                    "peak_rss_mib": round(used.peak_rss / 1024 / 1024),
                    **({"threads_cpu_s": dict(used.threads)} if used.threads else {}),
                }
                for role, used in self.usage.by_role.items()
            },
            "others_cpu_s": round(self.usage.others_cpu_s, 1),
            "outputs_sha256": self.sample,
        }


def run(
    contestant: Contestant,
    stack: BenchStack,
    source: str,
    events: int,
    *,
    directory: Path,
    profile: bool = False,
    left_out: frozenset[bytes] = frozenset(),
    deadline: timedelta = DEADLINE,
) -> Outcome:
    """Race until there is an output (or error) for each of `events` in the source. Raises DevkitError.

    Outputs with a key of `left_out` do not count, nor are they waited for; `events` is without them too.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with stack.topics(source) as topics:
        broker, mock = stack.broker_pid, stack.mock_pid
        assert broker
        assert mock
        out, errors = stack.log(topics.out), stack.log(topics.errors)
        started_s = time.time()
        processes = contestant.start(Place(stack, topics, events, directory))
        try:
            roots = {broker: "broker", mock: "mock"} | dict.fromkeys((p.pid for p in processes), contestant.name)
            watch = UsageWatch(roots, threads=profile)
            watch.start(of_old=frozenset((broker, mock)))

            def is_done() -> bool:
                for process in processes:
                    if process.exit_code != 0:
                        require_running(process)
                done = out.look() + errors.look() >= events
                return done and (not left_out or len(_counted(out, left_out)) >= events)

            wait_until(is_done, what=f"{contestant.name} to be done", deadline=deadline, interval=_LOOK)
            usage = watch.stop()
        finally:
            for process in processes:
                process.kill_tree()
        return _outcome(contestant.name, events, started_s, out, errors, usage, topics.out, left_out)


def _outcome(
    name: str,
    events: int,
    started_s: float,
    out: TopicLog,
    errors: TopicLog,
    usage: Usage,
    topic: str,
    left_out: frozenset[bytes],
) -> Outcome:
    times_ms = sorted(_counted(out, left_out))
    steady = stretch(times_ms, *STEADY)
    first_s, last_s = times_ms[0] / 1000, times_ms[-1] / 1000
    return Outcome(
        contestant=name,
        events=events,
        outputs=len(times_ms),
        errors=errors.count,
        whole=len(times_ms) / (last_s - started_s),
        appending=len(times_ms) / max(last_s - first_s, 0.001),
        steady=steady.rate,
        first_output_s=first_s - started_s,
        cpu_ms=usage.cpu_s * 1000 / events,
        usage=usage,
        sample="" if left_out else _sample(out, topic),
        steady_cpu_ms={
            role: cpu_s * 1000 / max(steady.count, 1)
            for role, cpu_s in usage.between(steady.begin_ms / 1000, steady.end_ms / 1000).items()
        },
    )


@dataclass(frozen=True)
class Stretch:
    """`count` records were appended after `begin_ms` until `end_ms`."""

    count: int
    begin_ms: int
    end_ms: int

    @property
    def rate(self) -> float:
        return self.count * 1000 / max(self.end_ms - self.begin_ms, 1)


def stretch(times_ms: Sequence[int], low: float, high: float) -> Stretch:
    """From when the share `low` of all records had been appended to when `high` had, of sorted times."""
    total = len(times_ms)
    begin_ms, end_ms = times_ms[int(low * total)], times_ms[max(int(high * total) - 1, 0)]
    return Stretch(bisect_right(times_ms, end_ms) - bisect_right(times_ms, begin_ms), begin_ms, end_ms)


def _counted(out: TopicLog, left_out: frozenset[bytes]) -> list[int]:
    """When each record was appended whose key is not left out."""
    if not left_out:
        return [batch.at_ms for batch in out.batches for _ in range(batch.count)]
    return [record.at_ms for record in out.records(value_bytes=0) if record.key not in left_out]


def _sample(out: TopicLog, topic: str) -> str:
    """Of one output in twenty, chosen by its id: contestants that do the same work have the same. The topic's name is
    in the event, and is the run's.
    """
    hashes = []
    for record in out.records():
        value = record.value or b""
        match = _ID.search(value)
        if match and int(match[1][:8], 16) % _SAMPLE == 0:
            hashes.append(hashlib.sha256(value.replace(topic.encode(), b"out", 1)).digest())
    return hashlib.sha256(b"".join(sorted(hashes))).hexdigest()[:16]
