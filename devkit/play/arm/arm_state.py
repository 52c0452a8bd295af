"""What has been seen of an arm so far, while it is played; what is seen of each of its programs is the program's."""

from dataclasses import dataclass, field

from devkit.observe.arm_end import ArmEnd
from devkit.observe.arm_observation import FirstTry
from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.model import Audit
from devkit.observe.samples.sample import NOTHING_SEEN, Sample
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.play.arm.collection import Collection
from devkit.stack.parts.mock_api import JournalCounts, MockChange


@dataclass
class ArmState:
    """`paused_before_traffic_s` is how long the arm stood still before anything was published, `warmed_up` where the
    events of its warm-up lie, `warm_up_s` how long that took. `running_from_s` is when the main program first ran, and
    was warm.

    `mock_changes` are those that the run did not make, up to the mock's `mock_revision`.

    `audits_beside` are those of the programs beside the main one, by name, where there is one.

    What is None has not happened yet; `ended_ms` is the wall clock's time of the end.
    """

    sample: Sample = NOTHING_SEEN
    samples: list[Sample] = field(default_factory=list)
    counts: JournalCounts | None = None
    mock_revision: int = 0
    mock_changes: list[MockChange] = field(default_factory=list)
    tried_first: FirstTry | None = None
    steps: list[StepOutcome] = field(default_factory=list)
    warmed_up: frozenset[Position] = frozenset()
    warm_up_s: float = 0.0
    running_from_s: float | None = None
    traffic_begun: bool = False
    traffic_begun_s: float | None = None
    paused_before_traffic_s: float = 0.0
    traffic_over_s: float | None = None
    caveats: list[str] = field(default_factory=list)
    cold: str = ""
    end: ArmEnd | None = None
    ended_ms: int = 0
    duration_s: float = 0.0
    collection: Collection | None = None
    audits_beside: dict[str, Audit] = field(default_factory=dict)

    @property
    def failed_step(self) -> StepOutcome | None:
        """The one that failed; none after it is begun."""
        return next((step for step in self.steps if step.holds is False), None)

    @property
    def has_steps_to_take(self) -> bool:
        """Whether any of them has not come to its end as it was to."""
        return not all(step.holds for step in self.steps)
