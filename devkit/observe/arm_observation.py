"""The observation of one arm: the expectations judge this and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import BaseModel, ConfigDict

from devkit.observe.arm_end import ArmEnd
from devkit.observe.audit.model import Audit
from devkit.observe.figures import CheckpointSize, Figures
from devkit.observe.kafka.emitted import Emitted
from devkit.observe.kafka.error_events import ErrorEvents
from devkit.observe.latency import Latencies, Page
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.observable import UPSTREAM, Observable
from devkit.observe.program_observation import ProgramObservation
from devkit.observe.samples.metrics import Scraped
from devkit.observe.samples.sample import Sample
from devkit.observe.stated_offsets import StatedOffsets
from devkit.observe.store_difference import StoreDifference
from devkit.observe.time_series import TimeSeries
from devkit.observe.timeline.action_outcomes import FaultOutcome, StepOutcome


class RuleSwitch(BaseModel):
    """The kit switched a rule of the mock on or off, `at_s` from the arm's start, when `published` events were out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    on: bool
    at_s: float
    published: int


class Evidence(BaseModel):
    """What the mock's journal shows of one fault in one arm. Sizes in bytes, as the client got them.

    `content_length` is of the response header, `wire` of the bytes on the wire, `real` of the decoded body; each the
    largest of the arm. `acted` is None for a fault that acts on each request it matches. For a fault that acts under
    load only, `inaction` says why it did not act. `by_client` is whether the rule picks requests by what clients do,
    such as retries. `switches` are those of a rule that acts for a part of the traffic, empty where that part did not
    come. `window` is when the rule's own window was open, None where it has none; its end is None at the arm's end.
    `last_request_s` is the time of the last request, None without requests. Times count from the arm's first request.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    fault: str
    fired: bool
    requests: int
    completed: int
    max_content_length_bytes: int | None
    max_wire_bytes: int
    max_real_bytes: int
    max_duration_s: float
    by_status: dict[str, int] = {}
    first_at_s: float | None = None
    last_at_s: float | None = None
    acted: bool | None = None
    inaction: str = ""
    by_client: bool = False
    switches: tuple[RuleSwitch, ...] | None = None
    window: tuple[float, float | None] | None = None
    last_request_s: float | None = None

    @property
    def came_too_early(self) -> bool:
        """Whether all requests came before its window opened."""
        return self.window is not None and (self.last_request_s is None or self.last_request_s < self.window[0])

    @property
    def spans(self) -> str:
        """Follows "matched no request": when its window was open, and when requests came; empty without a window."""
        if self.window is None:
            return ""
        begin, end = self.window
        opened = f"from {begin:g} s on" if end is None else f"from {begin:g} s to {end:g} s"
        came = (
            f"requests came from 0 s to {self.last_request_s:.1f} s" if self.last_request_s is not None else "none came"
        )
        return f": its window was open {opened} after the first request, and {came}"


class TimelineEvidence(FaultOutcome):
    """The outcome of one fault of the scenario's `timeline` in one arm.

    `fired` is whether it began; where it did not, `did` says how far the arm came. `hides` is what the fault made not
    observable. `unreached` is what it created (a topic, partitions) and no record reached afterwards; empty where a
    record did, or where a program failed afterwards.
    """

    model_config = ConfigDict(extra="forbid")

    fault: str
    fired: bool
    hides: str = ""
    unreached: str = ""


AnyEvidence = Evidence | TimelineEvidence
"""Of a rule of the mock, or of a fault of the timeline."""


@dataclass(frozen=True)
class Phase:
    """A part of an arm, in seconds from its start; `to_s` is None where it had not ended by the arm's end."""

    from_s: float
    to_s: float | None


@dataclass(frozen=True)
class FirstTry:
    """The start that was tried before the arm's own: `refusal` is the pipeline's reason, None when it started."""

    refusal: str | None


@dataclass(frozen=True)
class ComparedArm:
    """An arm of the same run. `short` says that its machine was too busy, and is empty where it was not. `slowdown` is
    how many times slower than a free machine it was, None where that was not measured.
    """

    observation: "ArmObservation"
    short: str = ""
    slowdown: float | None = None


@dataclass(frozen=True)
class ArmObservation:
    """Times are in seconds from the arm's start unless a field says otherwise; the expectations explain the figures."""

    duration_s: float
    end: ArmEnd
    programs: tuple[ProgramObservation, ...]
    """At least one, the main one first."""
    replayed_offsets: int
    past_failed_batch: int | None
    """None where no batch failed."""
    drained: bool
    last_sample: Sample
    figures: Figures
    latencies: Latencies
    audit: Audit
    evidence: tuple[AnyEvidence, ...]
    not_observable: frozenset[Observable] = frozenset()
    """What the main program did not show, or a fault hid. Without offsets, `emitted` is used instead."""
    emitted: Emitted | None = None
    caveats: tuple[str, ...] = ()
    """Manual interventions in the arm, so that it shows nothing of the scenario."""
    cold: str = ""
    """Why it began cold although it was to be warm."""
    store: StoreDifference | None = None
    """How the triple store differs from the truth; None where that is not known."""
    tried_first: FirstTry | None = None
    complaints: tuple[Complaint, ...] = ()
    """The first warnings and errors of the programs, in the order of time."""
    error_events: tuple[ErrorEvents, ...] = ()
    """Those in the main program's error topic, by type."""
    samples: tuple[Sample, ...] = ()
    phases: Mapping[str, Phase] = field(default_factory=dict)
    """The traffic, its named parts, and the faults that began."""
    pages: Mapping[str, Page] = field(default_factory=dict)
    """The named pages of the traffic, by title."""
    began_ms: int = 0
    """Since the epoch."""
    commits: TimeSeries = ()
    """What each commit of the main program took, in seconds."""
    batches: TimeSeries = ()
    """What each of its batches took, in seconds."""
    warm_batches: TimeSeries = ()
    """The same of all but the first of each process, up to its end where one was not written."""
    written_by_process: TimeSeries = ()
    """How many batches each of its processes wrote that ended by itself."""
    late_dropped: int | None = None
    """Source rows that its Spark dropped behind the watermark; None where it reported no state."""
    watermarks: TimeSeries = ()
    """Those of its batches, in seconds since the epoch."""
    checkpoint: CheckpointSize | None = None
    """None where its checkpoint was not looked at."""
    stated_offsets: StatedOffsets | None = None
    """Those of a main program without a checkpoint that says where it keeps them."""
    arms: Mapping[str, ComparedArm] = field(default_factory=dict)
    """Those that were played by now, this one among them; a recording has none."""
    steps: tuple[StepOutcome, ...] = ()

    @property
    def main(self) -> ProgramObservation:
        """The program of the expectations that name none."""
        return self.programs[0]

    @property
    def metrics(self) -> Scraped:
        """What the main program's own endpoint showed."""
        return self.main.metrics

    @property
    def audited(self) -> tuple[tuple[Audit, frozenset[Observable]], ...]:
        """The audit of each program that has one, the main one's first, and what is not observable of the program."""
        others = ((one.audit, one.not_observable) for one in self.programs if one.audit is not None)
        return ((self.audit, self.not_observable), *others)

    @property
    def hidden(self) -> tuple[str, ...]:
        """What faults made not observable."""
        return tuple(item.hides for item in self.evidence if isinstance(item, TimelineEvidence) and item.hides)

    def program(self, name: str) -> ProgramObservation | None:
        """None where the arm has no program of that name."""
        return next((program for program in self.programs if program.name == name), None)

    def of(self, program: ProgramObservation) -> Self:
        """A copy with this program as the main one; topics, upstream and audit stay the main program's."""
        return replace(
            self,
            programs=(program, *(other for other in self.programs if other is not program)),
            not_observable=program.not_observable | (self.not_observable & UPSTREAM),
            figures=self.figures.model_copy(update={"container": program.container}),
        )
