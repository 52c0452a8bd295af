"""One arm's part of the timeline as spans: processes, batches, faults, waits, and the samples between them.

A process is *ready* when its query runs. A batch that was begun and never written ends with its process. A fault of the
mock has a span between two samples where it matched a request, a fault on a part from its begin to its end.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from devkit.headroom.window import HeadroomSample
from devkit.observe.logs.first_errors import heap_dump_text
from devkit.observe.observable import Observable
from devkit.observe.program_observation import ONLY
from devkit.observe.samples.sample import Sample
from devkit.observe.timeline.kit_events import (
    ArmEnded,
    FaultBegun,
    FaultEnded,
    LatencyOfSecond,
    NotObservable,
    ProcessEnded,
    ProcessOverLimit,
    ProcessRestarted,
    ProcessStarted,
    ProgramsNamed,
    RuleSwitched,
)
from devkit.observe.timeline.timeline import TimelineEntry
from located_config.count import counted
from pipeline.events import (
    ApplyStarted,
    BatchStarted,
    BatchWritten,
    Failed,
    HeapDumped,
    Resumed,
    SlowRound,
    Started,
    StateCommitted,
    Waiting,
)

_MERGE_GAP_S = 1.5
"""Spans of growth that lie closer than this are one: requests come in bursts."""


@dataclass(frozen=True)
class Span:
    """From `begin_s` to `end_s`, in which `what` was so."""

    begin_s: float
    end_s: float
    what: str = ""


@dataclass(frozen=True)
class Process:
    """A pipeline process. `exit_code` is None for the one that the arm's end found running.

    `killed` says of one that was over a limit of its container which one that was, and what it had taken,
    `dumped` of one whose JVM ran out of memory what its heap held.
    """

    number: int
    begin_s: float
    end_s: float
    ready_s: float | None = None
    exit_code: int | None = None
    failure: str = ""
    killed: str = ""
    dumped: str = ""


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
    """`ended_by` is None where the arm was cut short. `not_observable` is what the program under test did not show,
    or a fault hid.

    Times count from the arm's first line, those of the samples too. `headroom` is empty where the machine was not
    watched. `processes` and what they did are the main program's, `beside` has those of each other one by name.
    `switched` is when each rule of the mock was on that the kit switches.
    `watermarks` are those that its batches reported, in seconds since the epoch, from the first that an event has made.
    """

    arm: str
    duration_s: float
    ended_by: str | None
    samples: tuple[Sample, ...]
    latencies: tuple[LatencyOfSecond, ...]
    processes: tuple[Process, ...]
    batches: tuple[Batch, ...]
    faults: dict[str, tuple[Span, ...]]
    waits: tuple[Span, ...]
    slow_rounds: tuple[Span, ...]
    not_observable: frozenset[Observable] = frozenset()
    program: str = ONLY
    headroom: tuple[HeadroomSample, ...] = ()
    watermarks: tuple[tuple[float, float], ...] = ()
    beside: Mapping[str, tuple[Process, ...]] = field(default_factory=dict)
    switched: Mapping[str, tuple[Span, ...]] = field(default_factory=dict)

    @property
    def shows_offsets(self) -> bool:
        """Whether the samples' committed offsets, and so their lag, mean something."""
        return "offsets" not in self.not_observable

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
            Span(ended.end_s, self.duration_s if next_process.ready_s is None else next_process.ready_s)
            for ended, next_process in itertools.pairwise(self.processes)
        )


def arm_record(arm: str, entries: Sequence[TimelineEntry]) -> ArmRecord:
    """`entries` are the arm's own, in order, with `t_s` in seconds since the run began."""
    start, (program, *other_programs) = entries[0].t_s, _programs(entries)
    timed = [replace(entry, t_s=round(entry.t_s - start, 3)) for entry in entries]
    of_arm = [entry for entry in timed if entry.program in (None, program)]
    end = next(((entry.t_s, entry.event.end) for entry in of_arm if isinstance(entry.event, ArmEnded)), None)
    samples = tuple(
        entry.event.model_copy(update={"at_s": entry.t_s}) for entry in of_arm if isinstance(entry.event, Sample)
    )
    ended_s = end[0] if end else max(entry.t_s for entry in timed)
    processes = _ready_processes(of_arm, ended_s)
    return ArmRecord(
        arm=arm,
        program=program,
        duration_s=ended_s,
        ended_by=end[1].text if end else None,
        samples=samples,
        latencies=tuple(entry.event for entry in of_arm if isinstance(entry.event, LatencyOfSecond)),
        processes=processes,
        batches=_batches(of_arm, processes, ended_s),
        faults=_rule_faults(samples) | _timeline_faults(of_arm, ended_s),
        waits=_waits(of_arm, ended_s),
        slow_rounds=tuple(
            Span(max(0.0, entry.t_s - entry.event.seconds), entry.t_s, counted(entry.event.entries, "entry", "entries"))
            for entry in of_arm
            if isinstance(entry.event, SlowRound)
        ),
        headroom=tuple(
            entry.event.model_copy(update={"from_s": entry.event.from_s - start, "to_s": entry.event.to_s - start})
            for entry in of_arm
            if isinstance(entry.event, HeadroomSample) and entry.event.from_s >= start
        ),
        watermarks=tuple(_watermarks(of_arm)),
        switched=_switched(of_arm, ended_s),
        beside={
            name: _ready_processes([entry for entry in timed if entry.program == name], ended_s)
            for name in other_programs
        },
        not_observable=frozenset(
            observable
            for entry in of_arm
            if isinstance(entry.event, NotObservable)
            for observable in entry.event.observables
        ),
    )


def _watermarks(entries: Sequence[TimelineEntry]) -> Iterator[tuple[float, float]]:
    for entry in entries:
        if isinstance(entry.event, StateCommitted) and entry.event.watermark is not None:
            seconds = datetime.fromisoformat(entry.event.watermark).timestamp()
            if seconds > 0:  # before the first event it is at the epoch
                yield entry.t_s, seconds


def _programs(entries: Sequence[TimelineEntry]) -> tuple[str, ...]:
    """The names of the programs, the main one first. A single one may have a name, too."""
    named = (entry.event.names for entry in entries if isinstance(entry.event, ProgramsNamed))
    single = next((entry.program for entry in entries if entry.program is not None), ONLY)
    return next(named, (single,))


def _processes(entries: Sequence[TimelineEntry], ended_s: float) -> tuple[Process, ...]:
    processes: list[Process] = []
    for entry in entries:
        at_s = min(entry.t_s, ended_s)
        match entry.event:
            case ProcessStarted() | ProcessRestarted():
                processes.append(Process(len(processes) + 1, at_s, ended_s))
            case Started() | ApplyStarted() if processes:
                processes[-1] = replace(processes[-1], ready_s=at_s)
            case Failed(error=error) if processes:
                processes[-1] = replace(processes[-1], failure=error)
            case HeapDumped() as dump if processes:
                processes[-1] = replace(processes[-1], dumped=heap_dump_text(dump))
            case ProcessOverLimit() as kill if processes:
                processes[-1] = replace(processes[-1], killed=kill.text)
            case ProcessEnded(exit_code=code) if processes:
                processes[-1] = replace(processes[-1], end_s=at_s, exit_code=code)
    return tuple(processes)


def _ready_processes(entries: Sequence[TimelineEntry], ended_s: float) -> tuple[Process, ...]:
    """Processes of a program that logs no start count as ready from their begin."""
    is_silent = any(isinstance(entry.event, NotObservable) and "words" in entry.event.observables for entry in entries)
    processes = _processes(entries, ended_s)
    return tuple(replace(process, ready_s=process.begin_s) for process in processes) if is_silent else processes


def _batches(entries: Sequence[TimelineEntry], processes: Sequence[Process], ended_s: float) -> tuple[Batch, ...]:
    batches: list[Batch] = []
    for entry in entries:
        at_s = entry.t_s
        match entry.event:
            case BatchStarted(batch=number):
                ends = (process.end_s for process in processes if process.end_s >= at_s)
                replay = any(batch.number == number for batch in batches)
                batches.append(Batch(number, at_s, min([*ends, ended_s]), replay=replay))
            case BatchWritten(batch=number, seconds=seconds) if batches and batches[-1].number == number:
                # Both lines may be seen in one look, so the batch's own figure is the better one.
                begin_s = batches[-1].begin_s if seconds is None else max(0.0, at_s - seconds)
                batches[-1] = replace(batches[-1], begin_s=begin_s, end_s=at_s, written=True)
    return tuple(batches)


def _rule_faults(samples: Sequence[Sample]) -> dict[str, tuple[Span, ...]]:
    def matched(name: str) -> Callable[[Sample], int]:
        return lambda sample: sample.faults.get(name, 0)

    names = dict.fromkeys(name for sample in samples for name in sample.faults)
    return {name: growing(samples, matched(name)) for name in names}


def _timeline_faults(entries: Sequence[TimelineEntry], ended_s: float) -> dict[str, tuple[Span, ...]]:
    """Faults of the scenario's timeline. A fault without an end lasts to the end of the arm."""
    faults: dict[str, tuple[Span, ...]] = {}
    for entry in entries:
        at_s = min(entry.t_s, ended_s)
        match entry.event:
            case FaultBegun(name=name, asked=asked):
                faults[name] = (Span(at_s, ended_s, asked),)
            case FaultEnded(name=name, did=did) if name in faults:
                faults[name] = (replace(faults[name][0], end_s=at_s, what=did),)
    return faults


def _switched(entries: Sequence[TimelineEntry], ended_s: float) -> dict[str, tuple[Span, ...]]:
    """When each rule was on that the kit switches: from the arm's start where it is only switched off, to its end where
    it is not.
    """
    spans: dict[str, list[Span]] = {}
    for entry in entries:
        at_s = min(entry.t_s, ended_s)
        match entry.event:
            case RuleSwitched(name=name, on=True):
                spans.setdefault(name, []).append(Span(at_s, ended_s))
            case RuleSwitched(name=name):
                of_rule = spans.setdefault(name, [Span(0.0, at_s)])
                of_rule[-1] = replace(of_rule[-1], end_s=at_s)
    return {name: tuple(of_rule) for name, of_rule in spans.items()}


def growing(samples: Sequence[Sample], counter: Callable[[Sample], int]) -> tuple[Span, ...]:
    """When a counter grew, from sample to sample; spans that are close together are one."""
    spans: list[Span] = []
    for before, now in itertools.pairwise(samples):
        if counter(now) <= counter(before):
            continue
        if spans and before.at_s - spans[-1].end_s < _MERGE_GAP_S:
            spans[-1] = replace(spans[-1], end_s=now.at_s)
        else:
            spans.append(Span(before.at_s, now.at_s))
    return tuple(spans)


def _waits(entries: Sequence[TimelineEntry], ended_s: float) -> tuple[Span, ...]:
    """The main lane's waits; one ends when it resumes, or with its process."""
    waits: list[Span] = []
    waiting: Span | None = None
    for entry in entries:
        match entry.event:
            case Resumed() | ProcessEnded() if waiting:
                waits.append(replace(waiting, end_s=entry.t_s))
                waiting = None
            case Waiting(reason=reason) if not waiting:
                waiting = Span(entry.t_s, ended_s, reason)
    return (*waits, waiting) if waiting else tuple(waits)
