"""What has been seen of a program so far, while its arm is played."""

from collections import Counter
from dataclasses import dataclass, field

from devkit.observe.checkpoint import Offsets
from devkit.observe.complaint import FirstComplaints
from devkit.observe.departed import Left
from devkit.programs.batches import PlannedBatches


@dataclass
class ProgramState:
    """`process` is the number of the process that runs and is ready, `processes` that of the newest one.

    The newest serves metrics at `metrics_url`. `log` counts the events that it wrote by name. `committed` is what the
    checkpoint shows; `left` stands in for it where it shows nothing.
    """

    batches: PlannedBatches = field(default_factory=PlannedBatches)
    process: int | None = None
    processes: int = 1
    has_words: bool = False
    log: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    stalls: list[str] = field(default_factory=list)
    complaints: FirstComplaints = field(default_factory=FirstComplaints)
    metrics_url: str | None = None
    committed: Offsets = field(default_factory=dict)
    source_ends: Offsets = field(default_factory=dict)
    drained: bool = False
    left: Left | None = None
