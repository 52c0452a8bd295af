"""What has been seen of an arm so far, while it is played."""

from dataclasses import dataclass, field

from devkit.observe.arm import FirstTry, Sample
from devkit.observe.checkpoint import Offsets
from devkit.observe.departed import Left
from devkit.scenario.batches import PlannedBatches
from devkit.stack.parts.mock_api import JournalCounts


@dataclass
class ArmState:
    """`process` is the number of the pipeline process whose query runs; the newest serves metrics at `metrics_url`."""

    batches: PlannedBatches = field(default_factory=PlannedBatches)
    committed: Offsets = field(default_factory=dict)
    sample: Sample = field(default_factory=lambda: Sample(0, 0, 0, 0, 0, 0, 0))
    samples: list[Sample] = field(default_factory=list)
    counts: JournalCounts | None = None
    failures: list[str] = field(default_factory=list)
    stalls: list[str] = field(default_factory=list)
    process: int | None = None
    processes: int = 1
    traffic_begun: bool = False
    traffic_over_s: float | None = None
    drained: bool = False
    source_ends: Offsets = field(default_factory=dict)
    left: Left | None = None
    has_words: bool = False
    caveats: list[str] = field(default_factory=list)
    metrics_url: str | None = None
    tried_first: FirstTry | None = None
