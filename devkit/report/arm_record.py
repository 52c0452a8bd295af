"""One arm's part of the timeline, told in spans: processes, batches, faults, waits, and the samples between them.

A process is *ready* when its query runs. A batch that was begun and never written ends with its process. The
spans of a mock's fault are those between two samples in which it met a request, so they are observed and not planned;
that of a fault on a part is from when it was begun until it was ended.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from devkit.observe.arm_end import ArmEnd

M = TypeVar("M", bound=BaseModel)

_MERGE_GAP_S = 1.5
"""Spans of growth that lie closer than this are one: requests come in bursts."""


class SampleLine(BaseModel):
    """One `sample` of a timeline; None is what its writer did not measure."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    t_s: float
    committed: int
    source_end: int
    outputs: int
    errors: int
    requests: int
    in_flight: int
    faults: dict[str, int] = {}
    by_status: dict[str, int] | None = None
    fetches: int | None = None
    busy: int | None = None
    queued: int | None = None
    parses: int | None = None
    abandoned: int | None = None
    answer_p50_s: float | None = None
    answer_p95_s: float | None = None
    answer_p99_s: float | None = None
    deferred: int | None = None
    cpu_cores: float | None = None
    memory_bytes: int | None = None


class LatencyLine(BaseModel):
    """End-to-end latency of the events published in the second that begins at `at_s`, as a `latency` line has it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    at_s: float
    count: int
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None


class ArmEndedLine(BaseModel):
    """When the arm ended, and why."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    t_s: float
    end: ArmEnd


@dataclass(frozen=True)
class Span:
    """From `begin_s` to `end_s`, in which `what` was so."""

    begin_s: float
    end_s: float
    what: str = ""


@dataclass(frozen=True)
class Process:
    """A pipeline process. `exit_code` is None for the one that the arm's end found running."""

    number: int
    begin_s: float
    end_s: float
    ready_s: float | None = None
    exit_code: int | None = None
    failure: str = ""


@dataclass(frozen=True)
class Batch:
    """A micro-batch; `written` is False where it was under way when its process or its arm ended."""

    number: int
    begin_s: float
    end_s: float
    written: bool = False
    replay: bool = False


@dataclass(frozen=True)
class ArmRecord:
    """`ended_by` is None where the arm was cut short. `unseen` is what a pipeline of one's own did not show."""

    arm: str
    duration_s: float
    ended_by: str | None
    samples: tuple[SampleLine, ...]
    latencies: tuple[LatencyLine, ...]
    processes: tuple[Process, ...]
    batches: tuple[Batch, ...]
    faults: dict[str, tuple[Span, ...]]
    waits: tuple[Span, ...]
    slow_rounds: tuple[Span, ...]
    unseen: frozenset[str] = frozenset()

    @property
    def shows_offsets(self) -> bool:
        """Whether the samples' committed offsets, and so their lag, mean something."""
        return "offsets" not in self.unseen

    @property
    def requesting(self) -> tuple[Span, ...]:
        """When requests came in at the upstream."""
        return growing(self.samples, lambda sample: sample.requests)

    @property
    def publishing(self) -> tuple[Span, ...]:
        """When the end of the source topic moved."""
        return growing(self.samples, lambda sample: sample.source_end)

    @property
    def downtimes(self) -> tuple[Span, ...]:
        """From the end of a process to the start of the next one's query."""
        return tuple(
            Span(ended.end_s, self.duration_s if then.ready_s is None else then.ready_s)
            for ended, then in itertools.pairwise(self.processes)
        )


def arm_record(arm: str, lines: Sequence[dict[str, Any]]) -> ArmRecord:
    """`lines` are the arm's own, in order, with `t_s` in seconds since the run began."""
    start = float(lines[0]["t_s"])
    of_arm = [line | {"t_s": round(float(line["t_s"]) - start, 3)} for line in lines]
    end = next(iter(_valid(ArmEndedLine, of_arm, "arm_ended")), None)
    samples = _valid(SampleLine, of_arm, "sample")
    ended = end.t_s if end else max(float(line["t_s"]) for line in of_arm)
    processes = _processes(of_arm, ended)
    return ArmRecord(
        arm=arm,
        duration_s=ended,
        ended_by=end.end.text if end else None,
        samples=samples,
        latencies=_valid(LatencyLine, of_arm, "latency"),
        processes=processes,
        batches=_batches(of_arm, processes, ended),
        faults=_faults(samples) | _timeline_faults(of_arm, ended),
        waits=_waits(of_arm, ended),
        slow_rounds=tuple(
            Span(max(0.0, line["t_s"] - _number(line.get("seconds"))), line["t_s"], f"{line.get('entries', 0)} entries")
            for line in of_arm
            if line["kind"] == "slow_round"
        ),
        unseen=frozenset(
            str(sight) for line in of_arm if line["kind"] == "unseen" for sight in _items(line.get("sights"))
        ),
    )


def _valid(model: type[M], lines: Iterable[dict[str, Any]], kind: str) -> tuple[M, ...]:
    found = []
    for line in lines:
        if line["kind"] == kind:
            try:
                found.append(model.model_validate(line))
            except ValidationError:
                continue  # cut short, or of another kit: the rest still tells
    return tuple(found)


def _processes(lines: Iterable[dict[str, Any]], ended_s: float) -> tuple[Process, ...]:
    found: list[Process] = []
    for line in lines:
        at_s = min(float(line["t_s"]), ended_s)
        match line["kind"]:
            case "process_started" | "process_restarted":
                found.append(Process(len(found) + 1, at_s, ended_s))
            case "started" if found:
                found[-1] = replace(found[-1], ready_s=at_s)
            case "failed" if found:
                found[-1] = replace(found[-1], failure=str(line.get("error", "")))
            case "process_ended" if found:
                code = line.get("exit_code")
                found[-1] = replace(found[-1], end_s=at_s, exit_code=code if isinstance(code, int) else None)
    return tuple(found)


def _batches(lines: Iterable[dict[str, Any]], processes: Sequence[Process], ended_s: float) -> tuple[Batch, ...]:
    found: list[Batch] = []
    for line in lines:
        number = line.get("batch")
        if not isinstance(number, int):
            continue
        at_s = float(line["t_s"])
        if line["kind"] == "batch_started":
            ends = (process.end_s for process in processes if process.end_s >= at_s)
            found.append(Batch(number, at_s, min([*ends, ended_s]), replay=bool(line.get("replay"))))
        elif line["kind"] == "batch_written" and found and found[-1].number == number:
            # Both lines may be seen in one look, so the batch's own figure is the better one.
            begin_s = max(0.0, at_s - _number(line.get("seconds"), at_s - found[-1].begin_s))
            found[-1] = replace(found[-1], begin_s=begin_s, end_s=at_s, written=True)
    return tuple(found)


def _faults(samples: Sequence[SampleLine]) -> dict[str, tuple[Span, ...]]:
    def met(name: str) -> Callable[[SampleLine], int]:
        return lambda sample: sample.faults.get(name, 0)

    names = dict.fromkeys(name for sample in samples for name in sample.faults)
    return {name: growing(samples, met(name)) for name in names}


def _timeline_faults(lines: Iterable[dict[str, Any]], ended_s: float) -> dict[str, tuple[Span, ...]]:
    """Of the scenario's timeline; one that no line ends lasts as long as the arm."""
    found: dict[str, tuple[Span, ...]] = {}
    for line in lines:
        name, at_s = str(line.get("name")), min(float(line["t_s"]), ended_s)
        if line["kind"] == "fault_begins":
            found[name] = (Span(at_s, ended_s, str(line.get("asked", ""))),)
        elif line["kind"] == "fault_ends" and name in found:
            found[name] = (replace(found[name][0], end_s=at_s, what=str(line.get("did", ""))),)
    return found


def growing(samples: Sequence[SampleLine], counter: Callable[[SampleLine], int]) -> tuple[Span, ...]:
    """When a counter grew, from sample to sample; spans that are close together are one."""
    spans: list[Span] = []
    for before, now in itertools.pairwise(samples):
        if counter(now) <= counter(before):
            continue
        if spans and before.t_s - spans[-1].end_s < _MERGE_GAP_S:
            spans[-1] = replace(spans[-1], end_s=now.t_s)
        else:
            spans.append(Span(before.t_s, now.t_s))
    return tuple(spans)


def _waits(lines: Iterable[dict[str, Any]], ended_s: float) -> tuple[Span, ...]:
    """The main lane's waits; one ends when it resumes, or with its process."""
    found: list[Span] = []
    waiting: Span | None = None
    for line in lines:
        kind = line["kind"]
        if waiting and kind in ("resumed", "process_ended"):
            found.append(replace(waiting, end_s=float(line["t_s"])))
            waiting = None
        elif not waiting and kind == "waiting":
            waiting = Span(float(line["t_s"]), ended_s, str(line.get("reason", "")))
    return (*found, waiting) if waiting else tuple(found)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _number(value: object, otherwise: float = 0.0) -> float:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else otherwise
