"""The figures of the audit, and when they are clean."""

from pydantic import BaseModel, ConfigDict


class Audit(BaseModel):
    """Counts of source events, except where it says records.

    Each input ends in exactly one of `outputs`, `errors`, `filtered`, `deferred` (committed, and deferred in the
    deferral topic), `pending` (not yet committed, still in the source) or `lost`. Events that left more than once
    count once there, and in `duplicated` (records that repeat an earlier one byte for byte) or `conflicting` (records
    that differ from an earlier one of the same event, or an error for an event that also has an output).
    `misrouted`: left another way than expected. `mismatched`: left the right way with the wrong content.
    `unattributed`: records, of the deferral topic too, that name no source event.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    inputs: int
    outputs: int
    errors: int
    filtered: int
    deferred: int
    pending: int
    lost: int
    duplicated: int
    conflicting: int
    out_of_order: int
    misrouted: int
    mismatched: int
    unattributed: int
    claim_checks: int
    examples: tuple[str, ...] = ()

    def problems(self, *, restarted: bool) -> dict[str, int]:
        """What is not clean. Byte-identical repeats are no problem where a restart replayed their batch."""
        always = ("lost", "conflicting", "out_of_order", "misrouted", "mismatched", "unattributed")
        names = always if restarted else (*always, "duplicated")
        return {name: count for name in names if (count := getattr(self, name))}
