"""The state of an arm while it is played; each program has a state of its own."""

from dataclasses import dataclass, field

from devkit.observe.arm_end import ArmEnd
from devkit.observe.arm_observation import FirstTry
from devkit.observe.audit.arrivals import Position
from devkit.observe.audit.model import Audit
from devkit.observe.samples.sample import NOTHING_SEEN, Sample
from devkit.observe.store_difference import StoreDifference
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.play.arm.collection import Collection
from devkit.stack.parts.mock_api import MockChange
from mockapi.client.journal_counts import JournalTotals


@dataclass
class ArmState:
    """`paused_before_traffic_s` is the pause before the first publication. `warmed_up` has the source positions of the
    warm-up's events, `warm_up_s` its duration. `running_from_s` is when the main program first ran and was warm.

    `mock_changes` are changes that others made to the mock, up to `mock_revision`. `audits_beside` are the audits of
    the other programs, by name. A time that is None has not come yet; `ended_ms` is by the wall clock.
    """

    sample: Sample = NOTHING_SEEN
    samples: list[Sample] = field(default_factory=list)
    counts: JournalTotals | None = None
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
    store: StoreDifference | None = None
    audits_beside: dict[str, Audit] = field(default_factory=dict)

    @property
    def failed_step(self) -> StepOutcome | None:
        """The step that failed; no later step begins."""
        return next((step for step in self.steps if step.holds is False), None)

    @property
    def has_steps_to_take(self) -> bool:
        """Whether any step has not succeeded yet."""
        return not all(step.holds for step in self.steps)
