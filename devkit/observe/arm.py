"""What was observed of one arm; the checks judge this and nothing else."""

from dataclasses import dataclass

from devkit.observe.audit.model import Audit
from devkit.observe.logs import LoggedException


@dataclass(frozen=True)
class Sample:
    """One look from outside. Offsets are summed over the partitions."""

    at_s: float
    committed: int
    source_end: int
    outputs: int
    errors: int
    requests: int
    in_flight: int

    @property
    def lag(self) -> int:
        return self.source_end - self.committed


@dataclass(frozen=True)
class RuleEvidence:
    """What the mock's journal says of one rule: the proof that the fault fired."""

    rule: str
    requests: int
    completed: int
    max_content_length_bytes: int | None
    max_wire_bytes: int
    max_real_bytes: int
    max_duration_s: float


@dataclass(frozen=True)
class ArmObservation:
    """`past_failed_batch` is None where no batch failed; the checks explain `replays` and `replayed_offsets`."""

    duration_s: float
    ended_by: str
    restarts: int
    replays: int
    replayed_offsets: int
    past_failed_batch: int | None
    drained: bool
    exceptions: tuple[LoggedException, ...]
    last_sample: Sample
    audit: Audit
    evidence: tuple[RuleEvidence, ...]
