"""What was observed of one arm; the expectations judge this and nothing else."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Self

from pydantic import BaseModel, ConfigDict

from devkit.observe.arm_end import ArmEnd
from devkit.observe.audit.model import Audit
from devkit.observe.complaint import Complaint
from devkit.observe.departed import Left
from devkit.observe.fault_outcome import FaultOutcome
from devkit.observe.figures import Figures
from devkit.observe.latency import Latencies
from devkit.observe.logs import LoggedException
from devkit.observe.metrics import NOTHING_SCRAPED, Scraped
from devkit.observe.program import ProgramObservation
from devkit.observe.sample import Sample
from devkit.observe.sight import UPSTREAM, Sight


class Evidence(BaseModel):
    """What the mock's journal shows of one fault in one arm. Sizes in bytes, as the client got them.

    `content_length` is what the response header said, `wire` what went over the wire, `real` the decoded body; each
    the largest of the arm. `first_at_s` and `last_at_s` count from the arm's first request. `acted` is None for a fault
    that acts on each request it meets; for one that acts under load only, `inaction` says what was not seen.
    `by_client` is whether the rule picks its requests by what clients do, such as trying again.
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


class TimelineEvidence(FaultOutcome):
    """What became of one fault of the scenario's `timeline` in one arm.

    `fired` is whether it began; of one that never did, `did` says how far the arm came. `hides` is what is not
    observable of the arm because of it.
    """

    model_config = ConfigDict(extra="forbid")

    fault: str
    fired: bool
    hides: str = ""


AnyEvidence = Evidence | TimelineEvidence
"""Of a rule of the mock, or of a fault of the timeline."""


@dataclass(frozen=True)
class FirstTry:
    """The start that was tried before the arm's own: `refusal` is what the pipeline said, None when it started."""

    refusal: str | None


@dataclass(frozen=True)
class ArmObservation:
    """`past_failed_batch` is None where no batch failed; the expectations explain `replays` and `replayed_offsets`.

    `failures` are the texts with which pipeline processes said that they failed, in order; `stalls` are those of them
    that say that no commit came in its time. `unseen` is what the program under test did not show, or a fault hid;
    without offsets, `left` stands in for them. `caveats` say what was done by hand to the arm, so that it shows
    nothing of the scenario. `metrics` is what the pipeline's own endpoint showed, and `tried_first` is None where no
    start was tried. `programs` has each of them where there are several; what else is said of a program is of the
    first. `log` counts the events on its standard output by name, and `ended_with` is the exit code with which it was
    over before the arm's end, None where it was not. `complaints` are what the programs said first when
    something went wrong, in the order of time.
    """

    duration_s: float
    end: ArmEnd
    restarts: int
    replays: int
    replayed_offsets: int
    past_failed_batch: int | None
    drained: bool
    exceptions: tuple[LoggedException, ...]
    failures: tuple[str, ...]
    last_sample: Sample
    figures: Figures
    latencies: Latencies
    audit: Audit
    evidence: tuple[AnyEvidence, ...]
    unseen: frozenset[Sight] = frozenset()
    left: Left | None = None
    caveats: tuple[str, ...] = ()
    metrics: Scraped = NOTHING_SCRAPED
    tried_first: FirstTry | None = None
    stalls: tuple[str, ...] = ()
    programs: tuple[ProgramObservation, ...] = ()
    log: Mapping[str, int] = field(default_factory=dict)
    complaints: tuple[Complaint, ...] = ()
    ended_with: int | None = None

    def of(self, program: ProgramObservation) -> Self:
        """With what is observed of a program itself from that one; topics, upstream and audit stay the first one's."""
        return replace(
            self,
            restarts=program.restarts,
            replays=program.replays,
            exceptions=program.exceptions,
            failures=program.failures,
            stalls=program.stalls,
            log=program.log,
            ended_with=program.ended_with,
            unseen=program.unseen | (self.unseen & UPSTREAM),
            figures=self.figures.model_copy(update={"container": program.container}),
        )
