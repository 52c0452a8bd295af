"""What the kit writes into a run's timeline, besides what the program under test says of itself."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from devkit.container.kill import ContainerKill
from devkit.headroom.calibration import Calibration, StretchBy
from devkit.headroom.window import HeadroomSample
from devkit.observe.about import About
from devkit.observe.arm_end import ArmEnd
from devkit.observe.fault_outcome import FaultOutcome
from devkit.observe.logs import UnknownLine
from devkit.observe.sample import Sample
from devkit.observe.sight import Sight
from pipeline.events import PipelineEvent


class _Event(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class GuardianStarted(_Event):
    """`directory` is where it keeps what the run's processes need."""

    event: Literal["guardian"] = "guardian"
    run_id: str
    directory: str


class PartAddress(_Event):
    """Where a part of the stack is reached."""

    event: Literal["address"] = "address"
    part: str
    address: str


class HarnessError(_Event):
    """The kit could not finish the run."""

    event: Literal["harness error"] = "harness error"
    error: str
    exit_code: int


class VerdictReached(_Event):
    """As it stands in `result.json`."""

    event: Literal["verdict"] = "verdict"
    outcome: str
    reasons: tuple[str, ...]


class PhaseBegun(_Event):
    """What a person was told, and of what."""

    event: Literal["phase"] = "phase"
    phase: str
    text: str


class WarmedUp(_Event):
    """An event in each partition of the source went through the program before its traffic began: the upstream counted
    `fetches` for them. `problem` says why that did not come to its end.
    """

    event: Literal["warmed_up"] = "warmed_up"
    offsets: dict[int, int]
    fetches: int
    seconds: float
    problem: str | None = None


class TrafficBegun(_Event):
    """From now on events are published."""

    event: Literal["traffic_begins"] = "traffic_begins"


class ProgramsNamed(_Event):
    """An arm has several programs, the main one first."""

    event: Literal["programs"] = "programs"
    names: tuple[str, ...]


class ProcessStarted(_Event):
    """An arm's first."""

    event: Literal["process_started"] = "process_started"


class ProcessEnded(_Event):
    """By itself; processes count from 1."""

    event: Literal["process_ended"] = "process_ended"
    process: int
    exit_code: int


class ProcessOverLimit(ContainerKill):
    """It was killed, as a container's process is."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["process_over_limit"] = "process_over_limit"

    @classmethod
    def of(cls, kill: ContainerKill) -> "ProcessOverLimit":
        return cls(**dict(kill))


class ProcessRestarted(_Event):
    """`process` is the new one's number."""

    event: Literal["process_restarted"] = "process_restarted"
    process: int
    pid: int | None = None


class ArmEnded(_Event):
    """What the kit does to the arm afterwards is no part of it."""

    event: Literal["arm_ended"] = "arm_ended"
    end: ArmEnd


class LatencyOfSecond(_Event):
    """End-to-end latency of the events published in the second that begins at `at_s`: `count`, of them `waiting` ones
    that had not left.
    """

    event: Literal["latency"] = "latency"
    at_s: float
    count: int
    waiting: int = 0
    p50_s: float | None = None
    p95_s: float | None = None
    p99_s: float | None = None


class NotObservable(_Event):
    """What the program did not show, or a fault took from sight."""

    event: Literal["unseen"] = "unseen"
    sights: tuple[Sight, ...]


class CalibrationTaken(Calibration):
    """The machine as it was before the stack started."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    event: Literal["calibration"] = "calibration"


class StretchChosen(_Event):
    """How many times the file's every duration of the run is; `by` says what chose it."""

    event: Literal["stretch"] = "stretch"
    stretch: int
    by: StretchBy


class ProbeEnded(_Event):
    """The probe of the machine's speed, before its time."""

    event: Literal["probe_ended"] = "probe_ended"
    exit_code: int


class FaultBegun(_Event):
    """One of the scenario's timeline. `from_s` counts from the arm's start."""

    event: Literal["fault_begins"] = "fault_begins"
    name: str
    asked: str
    from_s: float | None = None


class FaultEnded(FaultOutcome, _Event):
    """One of the scenario's timeline, and what became of it."""

    event: Literal["fault_ends"] = "fault_ends"
    name: str


class PartsNotObservable(_Event):
    """Parts under a fault could not be asked."""

    event: Literal["not_observable"] = "not_observable"
    parts: tuple[str, ...]
    error: str


ProgramEvent = PipelineEvent | UnknownLine | ProcessOverLimit | ProcessEnded | ProcessRestarted
"""What a program says, and what happens to its processes."""

KitEvent = (
    About
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
    | PartsNotObservable
)
