"""What each check must have seen. Where a pipeline of one's own does not show it, nobody can say whether it holds.

`audit` and `drained` decide for themselves: what they see may be enough.
"""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from devkit.expectations.base import Finding
from devkit.observe.arm import ArmObservation
from devkit.observe.sight import Sight, not_observable

NEEDS: Mapping[str, frozenset[Sight]] = MappingProxyType(
    {
        "replays": frozenset({"batches"}),
        "replayed_offsets": frozenset({"batches", "offsets"}),
        "past_failed_batch": frozenset({"offsets"}),
        "flat_commit": frozenset({"offsets"}),
        "idle_cpu": frozenset({"offsets"}),
        "failure": frozenset({"words"}),
        "deferred": frozenset({"deferrals"}),
        "batch_budget": frozenset({"deferrals"}),
        "latency": frozenset({"sources"}),
        "claim_checks": frozenset({"sources"}),
    }
)


def as_seen(finding: Finding, observation: ArmObservation) -> Finding:
    """The finding, or that there is none where something it needs was not seen."""
    missing = NEEDS.get(finding.name, frozenset()) & observation.unseen
    return replace(finding, measured=not_observable(missing), holds=None) if missing else finding
