"""What bounds a driver of the model, and how long its events are tried."""

from dataclasses import dataclass

from pipeline.deferral.lane import Policy

POLICY = Policy(inline_allowance_s=1, slow_deadline_s=10, total_attempts=3, backoff_base_s=1, backoff_cap_s=4)
LONGEST_REST_MS = round(1000 * POLICY.backoff_cap_s)


@dataclass(frozen=True)
class Settings:
    max_entries: int = 4
    reservations: int = 3
    max_offsets: int = 4
    rounds: int = 2
    round_entries: int = 2
    deferred_share: float = 0.5
