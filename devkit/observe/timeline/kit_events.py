"""The events that the kit writes into a run's timeline."""

from collections.abc import Mapping
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from devkit.container.kill import ContainerKill
from devkit.headroom.calibration import Calibration, StretchBy
from devkit.headroom.window import HeadroomSample
from devkit.observe.arm_end import ArmEnd
from devkit.observe.logs.logs import UnknownLine
from devkit.observe.observable import Observable
from devkit.observe.samples.sample import Sample
from devkit.observe.timeline.action_outcomes import FaultOutcome, StepOutcome
from devkit.observe.timeline.run_metadata import RunMetadata
from pipeline.events import PipelineEvent


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GuardianStarted(_Event):
    """The guardian of the run has started."""

    event: Literal["guardian"] = "guardian"
    run_id: str
    """Id of the run."""
    directory: str
    """Directory of the files that the run's processes need."""


class PartAddress(_Event):
    """Where a part of the stack is reached."""

    event: Literal["address"] = "address"
    part: str
    """Name of the part."""
    address: str
    """Host and port, or URL."""


class HarnessError(_Event):
    """The kit could not finish the run."""

    event: Literal["harness error"] = "harness error"
    error: str
    """What failed."""
    exit_code: int
    """Exit code of the command."""


class VerdictReached(_Event):
    """The run is judged."""

    event: Literal["verdict"] = "verdict"
    outcome: str
    """The verdict, as in `result.json`."""
    reasons: tuple[str, ...]
    """Reasons of the verdict, a sentence each."""


class PhaseBegun(_Event):
    """A line that a person was shown."""

    event: Literal["phase"] = "phase"
    phase: str
    """What the line is about, as in the first column of the terminal."""
    text: str
    """The line itself."""


class WarmedUp(_Event):
    """Events went through the program before its traffic began, one in each partition of the source."""

    event: Literal["warmed_up"] = "warmed_up"
    offsets: dict[int, int]
    """Number of events that went through, by partition of the source."""
    fetches: int
    """Number of requests that the upstream counted for them."""
    seconds: float
    """Time that it took."""
    problem: str | None = None
    """Why the warm-up did not finish."""


class TrafficBegun(_Event):
    """From now on events are published."""

    event: Literal["traffic_begins"] = "traffic_begins"


class ProgramsNamed(_Event):
    """An arm has several programs."""

    event: Literal["programs"] = "programs"
    names: tuple[str, ...]
    """Names of the programs, the main one first."""


class ProcessStarted(_Event):
    """The first process of an arm."""

    event: Literal["process_started"] = "process_started"


class ProcessEnded(_Event):
    """A process ended by itself."""

    event: Literal["process_ended"] = "process_ended"
    process: int
    """Number of the process, from 1."""
    exit_code: int
    """Its exit code; below 0 the number of the signal that ended it."""


class ProcessOverLimit(ContainerKill):
    """It was killed, as a container's process is."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["process_over_limit"] = "process_over_limit"

    @classmethod
    def of(cls, kill: ContainerKill) -> "ProcessOverLimit":
        """The same fields, as an event of the timeline."""
        return cls(**dict(kill))


class ProcessRestarted(_Event):
    """The supervisor started another process, or an operator did."""

    event: Literal["process_restarted"] = "process_restarted"
    process: int
    """Number of the new process."""
    pid: int | None = None
    """Its id in the operating system."""
    by: Literal["supervisor", "operator"] = "supervisor"
    """Who started it: an operator does in a step of the arm."""


class StartRefused(_Event):
    """The program refused its start, as the scenario allows; a restart would not help."""

    event: Literal["start_refused"] = "start_refused"
    reason: str
    """What the program reported."""


class SupervisorGaveUp(_Event):
    """The supervisor does not start the program again: its policy allows no further restart."""

    event: Literal["supervisor_gave_up"] = "supervisor_gave_up"
    restarts: int
    """Number of restarts that its policy counts."""
    after: str = ""
    """The same in words: how many in a row, or within which time."""
    exit_code: int
    """Exit code of the last process."""


class StepEnded(_Event):
    """A step of an arm has ended."""

    event: Literal["step_ended"] = "step_ended"
    outcome: StepOutcome
    """The step and its outcome."""


class ArmEnded(_Event):
    """The arm has ended; what the kit does afterwards is no part of it."""

    event: Literal["arm_ended"] = "arm_ended"
    end: ArmEnd
    """The condition that was reached, or the deadline."""


class LatencyOfSecond(_Event):
    """End-to-end latency of the events that were published within one second."""

    event: Literal["latency"] = "latency"
    at_s: float
    """Where the second begins, in seconds from the arm's start."""
    count: int
    """Number of events that were published in it."""
    waiting: int = 0
    """Number of those that had neither an output nor an error event yet."""
    p50_s: float | None = None
    """Median of their latencies, in seconds."""
    p95_s: float | None = None
    """95th percentile of their latencies, in seconds."""
    p99_s: float | None = None
    """99th percentile of their latencies, in seconds."""


class NotObservable(_Event):
    """What the program did not show, or a fault made not observable."""

    event: Literal["not_observable"] = "not_observable"
    observables: tuple[Observable, ...]
    """Names of what could not be observed."""


class CalibrationTaken(Calibration):
    """The machine as it was before the stack started."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["calibration"] = "calibration"


class StretchChosen(_Event):
    """The run is played slower than the file has it."""

    event: Literal["stretch"] = "stretch"
    stretch: int
    """Factor of every duration of the file."""
    by: StretchBy
    """What chose it."""


class ProbeEnded(_Event):
    """The probe of the machine's speed ended before its time."""

    event: Literal["probe_ended"] = "probe_ended"
    exit_code: int
    """Its exit code."""


class FaultBegun(_Event):
    """A fault of the scenario's timeline begins."""

    event: Literal["fault_begins"] = "fault_begins"
    name: str
    """Name of the timeline's item."""
    asked: str
    """The fault as the scenario has it."""
    from_s: float | None = None
    """When it began, in seconds from the arm's start."""


class FaultEnded(FaultOutcome, _Event):
    """A fault of the scenario's timeline is over."""

    event: Literal["fault_ends"] = "fault_ends"
    name: str
    """Name of the timeline's item."""


class RuleSwitched(_Event):
    """The kit has switched a rule of the mock, as its share of the traffic is published."""

    event: Literal["rule_switched"] = "rule_switched"
    name: str
    """Name of the rule."""
    on: bool
    """Whether it is effective now."""
    at_s: float
    """When, in seconds from the arm's start."""
    published: int
    """Events published until then."""


class PartsNotObservable(_Event):
    """Parts under a fault could not be asked."""

    event: Literal["parts_not_observable"] = "parts_not_observable"
    parts: tuple[str, ...]
    """Names of the parts."""
    error: str
    """The error that the kit got."""


ProgramEvent = (
    PipelineEvent | UnknownLine | ProcessOverLimit | ProcessEnded | ProcessRestarted | SupervisorGaveUp | StartRefused
)
"""Events of a program and of its processes."""

KitEvent = (
    RunMetadata
    | GuardianStarted
    | PartAddress
    | HarnessError
    | VerdictReached
    | PhaseBegun
    | WarmedUp
    | TrafficBegun
    | ProgramsNamed
    | ProcessStarted
    | ProcessOverLimit
    | ProcessEnded
    | ProcessRestarted
    | SupervisorGaveUp
    | StartRefused
    | StepEnded
    | ArmEnded
    | Sample
    | LatencyOfSecond
    | NotObservable
    | CalibrationTaken
    | StretchChosen
    | HeadroomSample
    | ProbeEnded
    | FaultBegun
    | FaultEnded
    | RuleSwitched
    | PartsNotObservable
)

KIT_EVENT_CLASSES: Mapping[str, type[BaseModel]] = {
    str(event.model_fields["event"].default): event for event in get_args(KitEvent)
}
"""The members of the union by the names of their events, in its order."""
