"""The phases of a run and their times, by its timeline.

In `calibration` the guardian starts and the machine is measured. With `stack` Kafka, the object store and the mock
start, and what is missing is downloaded. Then each arm has four: `prepare` (topics, traffic, configuration), `start`
(from the program's first process to its query; left out where the program logs no start), `play` (until the arm's
end) and `collect` (the program is ended, topics are read and audited).
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.kit_events import ArmEnded, PhaseBegun, ProcessStarted, StretchChosen, VerdictReached
from devkit.observe.timeline.timeline import TimelineEntry, TimelineEvent
from pipeline.events import Started

RunPhase = Literal["calibration", "stack", "prepare", "start", "play", "collect"]
RUN_PHASES: tuple[RunPhase, ...] = get_args(RunPhase)


class PhaseTime(BaseModel):
    """How long a phase of the run took; those of an arm name it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    phase: RunPhase
    arm: ArmName | None = None
    seconds: float


def phase_times(entries: Iterable[TimelineEntry]) -> tuple[PhaseTime, ...]:
    """In their order, up to the verdict; empty where the timeline has none."""
    times: list[PhaseTime] = []
    marks = list(_marks(entries))
    if not marks or marks[-1][0] is not None:
        return ()
    for (phase, arm, from_s), (after, _, to_s) in pairwise(marks):
        assert phase is not None
        name = "play" if (phase, after) == ("start", "collect") else phase
        times.append(PhaseTime(phase=name, arm=arm, seconds=round(to_s - from_s, 3)))
    return tuple(times)


def _marks(entries: Iterable[TimelineEntry]) -> Iterator[tuple[RunPhase | None, ArmName | None, float]]:
    """The begin of each phase, and None for the end of the last. Within an arm no phase comes twice."""
    phase: RunPhase = "calibration"
    arm: str | None = None
    yield phase, None, 0.0
    for entry in entries:
        if isinstance(entry.event, VerdictReached):
            yield None, None, entry.t_s
            return
        begun = _begun(entry.event)
        if begun and (entry.arm != arm or RUN_PHASES.index(begun) > RUN_PHASES.index(phase)):
            phase, arm = begun, entry.arm
            yield phase, arm, entry.t_s


def _begun(event: TimelineEvent) -> RunPhase | None:
    match event:
        case StretchChosen():
            return "stack"
        case PhaseBegun(phase="arm"):
            return "prepare"
        case ProcessStarted():
            return "start"
        case Started():
            return "play"
        case ArmEnded():
            return "collect"
    return None
