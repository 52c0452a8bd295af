"""Bounds on the counts of the audit: `audit: {lost: {at_least: 1}, duplicated: 0}`.

A count is the sum over all audited programs. Repeats and conflicts that a restart excuses are counted separately.
"""

from collections.abc import Collection
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter, model_validator

from devkit.expectations.bounds import Bound, Count
from devkit.headroom.shortage import Window
from devkit.observe.audit.model import Audit
from devkit.observe.observable import Observable

LOWERED_BY_RECORDS = frozenset({"lost", "deduplicated"})
"""Counts that unobservable records would have lowered."""
MAY_BE_HIDDEN = LOWERED_BY_RECORDS | {"out_of_order"}
"""Counts that removed records would have changed: the first record of an event shows that it is late."""
_INEXCUSABLE = frozenset({"lost", "out_of_order", "duplicated", "conflicting", "mismatched"})
_NOT_PROBLEMS = frozenset({"lapsed", "deduplicated", "repeats_emitted"})
_CHANGED_BY_REPLAYS = frozenset({"duplicated", "conflicting", "excused", "excused_conflicts"})


class AuditCounts(BaseModel):
    """Bounds on what the audit counts, at least one."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    lost: Bound | None = Field(default=None, description="Committed events that had to be emitted, and were not.")
    lapsed: Bound | None = Field(
        default=None,
        description="Events that came too late for the job, with a lapsed_action event in their place; those that may "
        "lapse as well.",
    )
    deduplicated: Bound | None = Field(
        default=None, description="Committed events that were not emitted, as another one of the same `meta.id` was."
    )
    repeats_emitted: Bound | None = Field(
        default=None, description="Events that were emitted although another one of the same `meta.id` was."
    )
    duplicated: Bound | None = Field(default=None, description="Records that repeat another one, not excused.")
    conflicting: Bound | None = Field(
        default=None, description="Events with an output and an error event, or with two contents, not excused."
    )
    out_of_order: Bound | None = Field(
        default=None, description="Events that were emitted before an earlier one of their page."
    )
    misrouted: Bound | None = Field(
        default=None, description="Events that were emitted in another way than they had to be."
    )
    mismatched: Bound | None = Field(default=None, description="Records with another payload than they had to have.")
    unattributed: Bound | None = Field(default=None, description="Records that name no source event.")
    excused: Bound | None = Field(default=None, description="Repeats of events that a restart had read again.")
    excused_conflicts: Bound | None = Field(
        default=None, description="Events that ended in two ways, as a restart had read them again."
    )

    @model_validator(mode="after")
    def _check_counts(self) -> Self:
        if not self.bounds:
            raise ValueError("no count; write for example {lost: {at_least: 1}}, or `clean`")
        return self

    @property
    def bounds(self) -> dict[str, Count]:
        """By the name of what is counted, in the order of the fields."""
        return {name: bound for name in type(self).model_fields if (bound := getattr(self, name)) is not None}

    def __str__(self) -> str:
        return ", ".join(f"{name} {bound}" for name, bound in self.bounds.items())

    @property
    def depend_on_replays(self) -> bool:
        """Whether excuses by restarts change any of the counts."""
        return bool(self.bounds.keys() & _CHANGED_BY_REPLAYS)

    def needs(self, *, drained: bool) -> frozenset[Observable]:
        """What must be observable for these counts, apart from replays."""
        needed: set[Observable] = {"sources"}
        if self.bounds.keys() & LOWERED_BY_RECORDS and not drained:
            needed.add("offsets")
        return frozenset(needed)


_CLEAN: TypeAdapter[str] = TypeAdapter(Literal["clean"])


def _read(value: object) -> str | AuditCounts:
    """Validated as one of the two by the form of the value, so that an error is about this one alone."""
    return AuditCounts.model_validate(value) if isinstance(value, dict | AuditCounts) else _CLEAN.validate_python(value)


CleanOrCounts = Annotated[Any, PlainValidator(_read, json_schema_input_type=Literal["clean"] | AuditCounts)]


def count(name: str, audits: Collection[Audit]) -> int:
    """The count over all audits. Excused events and those of `_NOT_PROBLEMS` are not among the audit's problems."""
    if name.startswith("excused") or name in _NOT_PROBLEMS:
        return sum(getattr(audit, name) for audit in audits)
    return sum(audit.problems().get(name, 0) for audit in audits)


def broken_counts(argument: AuditCounts, audits: Collection[Audit]) -> list[str]:
    """The counts that are not within their bounds."""
    return [name for name, bound in argument.bounds.items() if not bound.admits(count(name, audits))]


def is_open(argument: AuditCounts, audits: Collection[Audit]) -> bool:
    """Whether records that a fault removed might change the finding; the observed counts are lower bounds."""
    bounds = argument.bounds.items()
    if any(
        name not in MAY_BE_HIDDEN and bound.at_most is not None and count(name, audits) > bound.at_most
        for name, bound in bounds
    ):
        return False
    return any(
        name in MAY_BE_HIDDEN or bound.at_most is not None or not bound.admits(count(name, audits))
        for name, bound in bounds
    )


def is_decided(argument: AuditCounts, audits: Collection[Audit]) -> bool:
    """Whether more events than allowed were lost, reordered or falsified, which no shortage of time excuses."""
    return any(
        bound.at_most is not None and count_inexcusable(name, audits) > bound.at_most
        for name, bound in argument.bounds.items()
    )


def time_window(argument: AuditCounts, audits: Collection[Audit]) -> Window | None:
    """The window in which a busy machine may have caused the counts; None if they do not depend on time."""
    if is_decided(argument, audits):
        return None
    bounds = argument.bounds
    if any(audit.timed_out for audit in audits) and bounds.keys() - LOWERED_BY_RECORDS:
        return "commit"
    if any(audit.inputs == audit.pending for audit in audits):
        return "arm"
    for name, bound in bounds.items():
        is_too_many = bound.at_most is not None and count(name, audits) > bound.at_most
        if is_too_many or (bound.at_least and count_inexcusable(name, audits) < bound.at_least):
            return "commit" if name.startswith("excused") else "arm"
    return None


def count_inexcusable(name: str, audits: Collection[Audit]) -> int:
    """The part of a count that no shortage of time excuses.

    A fetch that timed out gives an error event, which conflicts with the output after a restart.
    """
    if name not in _INEXCUSABLE:
        return 0
    if name == "mismatched":
        return sum(audit.mismatched_outputs for audit in audits)
    timed_out = sum(audit.timed_out_conflicts for audit in audits) if name == "conflicting" else 0
    return count(name, audits) - timed_out
