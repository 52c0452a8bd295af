"""A run directory made by hand: a storm of retries that kills the pipeline twice, and a fixed arm that gets over it.

Everything a timeline can say is in it. The figures are a small simulation, the same each time; `write_run` writes them
as a run would have.
"""

import json
import math
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import Evidence
from devkit.observe.figures import Answers, Figures, LatencyFigures
from devkit.observe.timeline.run_metadata import Difference, RunMetadata
from devkit.observe.timeline.timeline import TimelineEntry, read_timeline
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, Result
from tests.unit.devkit.observed import an_audit

STEP_S = 0.5
ENDS = {"incident": EndByCondition(reached={"restarts": 2}), "fixed": EndByCondition(reached={"drained": 1})}
LENGTH_S = {"incident": 44.0, "fixed": 36.0}
PUBLISHED_S = 20.0
RATE = 10
ENDS_S = (22.0, 38.0)
"""When processes of the incident arm end."""
DOWN_S = 4.0
EVENT_TIME_S = 1_790_000_000.0
WINDOW_S = (6.0, 10.0)
STALLED = "no commit within 12 s: batch 1 of 100 events has waited for 12.3 s"
LOG = "\n".join(
    [
        *(f"26/11/21 10:00:{n:02d} INFO MicroBatchExecution: Streaming query made progress" for n in range(40)),
        "26/11/21 10:00:41 ERROR MicroBatchExecution: Query terminated with error",
        "java.lang.IllegalStateException: stalled",
        *(f"\tat org.apache.spark.sql.execution.streaming.Frame{n}.run(Frame.scala:{n})" for n in range(30)),
        f"error: {STALLED}",
    ]
)


class _Arm:
    """The counters of one arm while its lines are written."""

    def __init__(self, arm: str) -> None:
        self.arm, self.storm = arm, arm == "incident"
        self.committed = self.outputs = self.requests = self.fetches = self.parses = self.abandoned = 0
        self.good = self.bad = 0
        self.queued = 0.0

    def step(self, at_s: float) -> dict[str, Any]:
        """The sample at `at_s`, after half a second more."""
        published = min(int(at_s * RATE), int(PUBLISHED_S * RATE))
        process = sum(at_s >= end for end in ENDS_S) + 1 if self.storm else 1
        running = at_s > 3 and not (self.storm and any(end <= at_s < end + DOWN_S for end in ENDS_S))
        slow = WINDOW_S[0] <= at_s < WINDOW_S[1]
        wanted = (22 if self.storm and at_s > WINDOW_S[0] else 9) if running and published > self.committed else 0
        self.queued = max(0.0, self.queued + wanted - (3 if slow else 12 if self.storm else 16))
        success = 1.0 if self.queued < 5 else 0.15 if self.storm else 0.7
        self.requests += wanted
        self.fetches += wanted if not self.storm or at_s < WINDOW_S[0] else wanted // 4
        self.good += round(wanted * success)
        self.bad += wanted - round(wanted * success)
        finished = min(wanted, 12)
        self.parses += finished
        self.abandoned += round(finished * (0.8 if success < 1 and self.storm else 0.05))
        if running and not (self.storm and at_s > WINDOW_S[0] + 1):
            self.committed = min(published, self.committed + (4 if slow else 9))
        if running:
            self.outputs = max(self.outputs, int(self.committed * 0.93))
        waits_s = min(1.5, 0.05 + self.queued / 20)
        return {
            "kind": "sample",
            "at_s": at_s,
            "committed": self.committed,
            "source_end": published,
            "outputs": self.outputs,
            "errors": int(self.committed * 0.02),
            "requests": self.requests,
            "in_flight": int(self.queued + wanted / 2),
            "process": process if running else None,
            "by_status": {"200": self.good, "504": self.bad},
            "fetches": self.fetches,
            "max_attempt": 4 if self.storm else 2,
            "busy": min(4, int(self.queued + wanted)),
            "queued": int(self.queued),
            "parses": self.parses,
            "abandoned": self.abandoned,
            "parse_s": round(self.parses * 0.2, 3),
            "answer_p50_s": round(waits_s, 4) if wanted else None,
            "answer_p95_s": round(min(1.5, waits_s * 3), 4) if wanted else None,
            "answer_p99_s": round(min(1.6, waits_s * 5), 4) if wanted else None,
            "deferred": 0 if self.storm else max(0, int(30 * math.sin((at_s - 8) / 5))) if 8 < at_s < 23 else 0,
            "cpu_cores": round((0.4 + 0.3 * math.sin(at_s)) if running else 1.4, 3),
            "memory_bytes": int(9e8 + 4e6 * at_s) if running else int(2e8),
            "lag": published - self.committed,
            "waiting": {"apply": (published - self.committed) // 2},
            "event_times": {
                name: EVENT_TIME_S + self.committed * pace
                for name, pace in (("codfw.page_change.v1", 6.0), ("eqiad.page_change.v1", 5.0))
            }
            if self.committed
            else {},
            "faults": {
                "parser": self.requests,
                "slow parsing": max(0, min(self.requests, int((min(at_s, WINDOW_S[1]) - WINDOW_S[0]) * 18))),
            },
        }


def _headroom(arm: str, from_s: float) -> dict[str, Any]:
    """Somebody else is at work for some seconds; unlike others, these times are the run's."""
    slowdown = 1.3 + 2 * max(0.0, math.sin(from_s / 4))
    figures = {"slowdown": round(slowdown, 3), "core": 1.05, "pressure": 0.4, "others_cores": round(slowdown - 1.2, 2)}
    return {"t_s": from_s + 1, "kind": "headroom", "arm": arm, "from_s": from_s, "to_s": from_s + 1} | figures


def metadata() -> RunMetadata:
    return RunMetadata(
        scenario="a-storm",
        title="Retries of timed-out requests keep a slow parser slow",
        seed=7,
        arms=("incident", "fixed"),
        reference="T421216",
        quote="if server will 504 timeout after 60 seconds, and we retry 3 times",
        preserves="parses asked for / parses the upstream can do",
        time_scale=40,
        config_difference=_difference(),
        began=datetime(2026, 11, 21, 10, 0, tzinfo=UTC),
        versions={"python": "3.11.2", "pyspark": "4.2.0"},
        repeat="devkit scenario run a-storm --seed 7",
    )


def lines() -> list[dict[str, Any]]:
    """The timeline, without its verdict."""
    found: list[dict[str, Any]] = [{"t_s": 0.0, "kind": "run", **metadata().model_dump(mode="json", exclude={"event"})}]
    start_s = 8.0
    for arm, length_s in LENGTH_S.items():
        of_arm = _arm_lines(arm, length_s)
        found += [{"t_s": round(start_s + line.pop("at_s_"), 3), "arm": arm} | line for line in of_arm]
        found += [_headroom(arm, start_s + second) for second in range(int(length_s))]
        start_s += length_s + 2
    return found


def entries(*lines: dict[str, Any]) -> list[TimelineEntry]:
    """Lines as they are read from a timeline."""
    with tempfile.TemporaryDirectory() as directory:
        file = Path(directory) / "events.jsonl"
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return list(read_timeline(file))


def entries_of(arm: str) -> list[TimelineEntry]:
    return [entry for entry in entries(*lines()) if entry.arm == arm]


def _arm_lines(arm: str, length_s: float) -> list[dict[str, Any]]:
    state = _Arm(arm)
    found: list[dict[str, Any]] = []

    def add(at_s: float, kind: str, /, **fields: Any) -> None:
        found.append({"at_s_": at_s, "kind": kind} | fields)

    add(0, "phase", phase="arm", text="topics, traffic and pipeline")
    add(0.2, "process_started")
    add(3.0, "started", start="earliest", spark_ui="off")
    for batch, (begin_s, end_s) in enumerate([(3.2, 4.6), (4.7, 6.1), (6.2, 9.0)] if arm == "fixed" else [(3.2, 4.6)]):
        add(begin_s, "batch_started", batch=batch)
        add(end_s, "batch_written", batch=batch, seconds=round(end_s - begin_s, 3))
    if arm == "incident":
        for number, end_s in enumerate(ENDS_S, 1):
            again = {"replay": True} if number > 1 else {}
            add(6.0 if number == 1 else end_s - 11.5, "batch_started", batch=1, **again)
            add(end_s - 0.1, "failed", error=STALLED, refused=False)
            add(end_s, "process_ended", process=number, exit_code=1)
            add(end_s + 1, "process_restarted", process=number + 1, pid=100 + number)
            if end_s + DOWN_S < length_s:
                add(end_s + DOWN_S, "started", start="checkpoint", spark_ui="off")
    else:
        add(9.0, "waiting", reason="deferral is full", entries=40, bytes=80_000)
        add(12.5, "resumed")
        for at_s in (14.0, 17.0, 20.0):
            add(at_s, "slow_round", pages=8, entries=11, resolved=9, rewritten=2, seconds=1.6)
        add(12.6, "batch_started", batch=3)
        add(15.0, "batch_written", batch=3, seconds=2.4)
    found += [{"at_s_": n * STEP_S} | state.step(n * STEP_S) for n in range(1, int(length_s / STEP_S))]
    add(length_s, "arm_ended", end=ENDS[arm].model_dump())
    for second in range(int(PUBLISHED_S)):
        p50_s = 0.8 + second * (0.9 if arm == "incident" else 0.1)
        add(
            length_s + 0.5,
            "latency",
            at_s=second,
            count=RATE,
            p50_s=None if arm == "incident" and second > 7 else round(p50_s, 3),
            p95_s=None if arm == "incident" and second > 5 else round(p50_s * 2.2, 3),
            p99_s=None if arm == "incident" and second > 5 else round(p50_s * 3, 3),
        )
    return sorted(found, key=lambda line: float(line["at_s_"]))


def result() -> Result:
    """As it stands in `result.json`."""
    return Result(
        scenario="a-storm",
        title=metadata().title,
        seed=7,
        outcome="reproduced and fixed",
        exit_code=0,
        reasons=(),
        arms={
            "incident": _arm(
                ("amplification", "at least 2.5", "3.6: 812 requests for 226 fetches"),
                ("abandoned", "at least 50%", "71%: 412 of 580 parses"),
                ("failure", "…no commit within…", f"{STALLED} (2 times)"),
                end=ENDS["incident"],
                restarts=2,
                replays=1,
                replayed_offsets=100,
                audit=an_audit(inputs=200, outputs=60, errors=2, filtered=4, pending=134, duplicated=3),
                duration_s=LENGTH_S["incident"],
                amplification=3.59,
                abandoned_share=0.71,
            ),
            "fixed": _arm(
                ("drained", "true", "committed 200 of 200"),
                ("audit", "clean", "clean: 200 in = 188 out + 4 errors + 8 filtered"),
                end=ENDS["fixed"],
                audit=an_audit(inputs=200, outputs=188, errors=4, filtered=8),
                duration_s=LENGTH_S["fixed"],
                amplification=1.08,
                abandoned_share=0.05,
            ),
        },
        config_difference=_difference(),
        fault_evidence={
            "incident": (_fired("parser", 812), _fired("slow parsing", 72)),
            "fixed": (_fired("parser", 402), _fired("slow parsing", 64)),
        },
        began=datetime(2026, 11, 21, 10, 0, tzinfo=UTC),
        duration_s=92.0,
        versions={"python": "3.11.2", "pyspark": "4.2.0", "system": "Linux-6.1-x86_64-with-glibc2.36"},
        repeat="devkit scenario run a-storm --seed 7",
    )


def write_run(directory: Path, *, with_result: bool = True, extra: tuple[dict[str, Any], ...] = ()) -> Path:
    """Writes timeline, result and logs; `extra` lines stand at the timeline's end. Returns the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in [*lines(), *extra])
    (directory / "events.jsonl").write_text(text)
    if with_result:
        (directory / "result.json").write_text(result().model_dump_json(indent=2))
    logs = directory / "incident" / "logs"
    logs.mkdir(parents=True, exist_ok=True)
    for number in (1, 2):
        (logs / f"pipeline-{number}.log").write_text(LOG)
    return directory


def _arm(*expectations: tuple[str, str, str], **fields: Any) -> ArmResult:
    found = tuple(
        ExpectationResult(name=name, expected=expected, measured=measured, holds=True)
        for name, expected, measured in expectations
    )
    values: dict[str, Any] = {"restarts": 0, "replays": 0, "replayed_offsets": 0, "exceptions": (), "holds": True}
    figures = _figures(amplification=fields.pop("amplification"), abandoned_share=fields.pop("abandoned_share"))
    values |= {"expectations": found, "figures": figures, "ended_by": fields["end"].text}
    return ArmResult.model_validate(values | fields)


def _figures(**changes: float) -> Figures:
    values: dict[str, Any] = {
        "requests": 812,
        "fetches": 226,
        "max_attempt": 4,
        "answers": Answers.counted({"200": 320, "504": 492}),
        "answers_after_fault": Answers.counted({"200": 40, "504": 310}),
        "parses": 580,
        "abandoned": 412,
        "peak_queue": 290,
        "flat_commit": None,
        "deferred_ever": 0,
        "latency": LatencyFigures(emitted=62, waiting=134, p50_s=None, p95_s=None, p99_s=None, max_s=None),
        "healthy_latency": None,
        "peak_memory_bytes": 1_070_000_000,
        "mean_cpu_cores": 0.6,
    }
    return Figures.model_validate(values | changes)


def _fired(fault: str, requests: int) -> Evidence:
    return Evidence(
        fault=fault,
        fired=True,
        requests=requests,
        completed=requests,
        max_content_length_bytes=None,
        max_wire_bytes=9_120,
        max_real_bytes=41_200,
        max_duration_s=1.504,
    )


def _difference() -> dict[str, Difference]:
    return {
        "fetch.retried_statuses": {"incident": [408, 429, 500, 502, 503, 504], "fixed": [408, 429, 500, 502, 503]},
        "fetch.retry_budget": {"incident": "none", "fixed": {"share": 0.1, "burst": 5}},
        "deferral.policy": {"incident": "none", "fixed": "defer"},
    }
