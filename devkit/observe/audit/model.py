"""The figures of the audit, and when they are clean."""

from pydantic import BaseModel, ConfigDict


class Audit(BaseModel):
    """Counts of source events, except where it says records.

    Each input ends in exactly one of `outputs`, `errors`, `filtered`, `lapsed` (too late for its job, which made a
    lapsed_action event of it), `deduplicated` (committed and not emitted, as another event of the same `meta.id` was or
    is deferred), `deferred` (committed, and deferred in the deferral topic), `pending` (not yet committed, still in the
    source) or `lost`. Events that were emitted more than once count there once, by their first record, and their other
    records in `duplicated` (they repeat an earlier one byte for byte) or `conflicting` (output and error event of one
    event, or other content in the same topic), see `devkit.observe.audit.event_records`. Of events that a restart or a
    retried task had read again, see `devkit.observe.audit.replays`: `excused` of the repeats, and `excused_conflicts`
    of those between output and error event; of either those `…_by_retry` that restarts do not account for. `duplicated`
    and `conflicting` have the excused ones in them here; the expectation `audit: {duplicated: 0}` is of those that are
    not excused. `misrouted`: emitted another way than expected, by the first record. `mismatched`: emitted the right
    way with the wrong content, under another key, in another partition than the page's records before it, or with the
    id of a record of another event; `mismatched_outputs` of them are outputs, which no timeout makes. `unattributed`:
    records, of the deferral topic too, that name no source event. `timed_out`: events with an error event that reports
    a timeout, which was not their fate; `timed_out_conflicts` of the conflicts that are not excused are with such a
    one.

    `excused_lapses` of the lapsed ones came so late on purpose. `repeats_emitted`: events that ended as output or error
    event although another one of their `meta.id` did.

    `not_emitted`: pending events that had to be emitted, of a program of which no commits are observable.
    `unaudited`: without a truth nothing says which events the job has to filter and what its outputs must be, and the
    figures are of records alone.
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
    lapsed: int = 0
    excused_lapses: int = 0
    deduplicated: int = 0
    repeats_emitted: int = 0
    mismatched_outputs: int = 0
    excused: int = 0
    excused_by_retry: int = 0
    excused_conflicts: int = 0
    excused_conflicts_by_retry: int = 0
    timed_out: int = 0
    timed_out_conflicts: int = 0
    not_emitted: int = 0
    examples: tuple[str, ...] = ()
    unaudited: bool = False

    @property
    def excused_by_restart(self) -> int:
        """Repeats and conflicts that only a restart accounts for; to know that it does, its batches are needed."""
        by_retry = self.excused_by_retry + self.excused_conflicts_by_retry
        return self.excused + self.excused_conflicts - by_retry

    def problems(self) -> dict[str, int]:
        """What is not clean. Repeats, conflicts and lapses are no problem as far as something excuses them."""
        emitted = ("conflicting", "out_of_order", "misrouted", "mismatched", "unattributed", "duplicated")
        counts = {name: getattr(self, name) for name in ("lost", "lapsed", *emitted)}
        counts["lapsed"] -= self.excused_lapses
        counts["conflicting"] -= self.excused_conflicts
        counts["duplicated"] -= self.excused
        return {name: count for name, count in counts.items() if count}
