"""The delivery audit: every input event had its expected outcome, once and in order; or bounds on its counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from devkit.expectations.audit_counts import (
    MAY_BE_HIDDEN,
    AuditCounts,
    CleanOrCounts,
    broken_counts,
    count,
    count_inexcusable,
    is_decided,
    is_open,
    time_window,
)
from devkit.expectations.base import ExpectationKind, Finding
from devkit.expectations.checked_arm import CheckedArm, Flaw
from devkit.headroom.shortage import Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.audit.model import Audit
from devkit.observe.observable import Observable, why_not_observable
from located_config.count import counted

NOT_AUDITED = "not audited, as no truth is registered for its job, which would say what its output must be"

_EVENT_COUNTS = ("lost", "lapsed", "deduplicated", "repeats_emitted", "misrouted", "out_of_order")
"""Counts that have each event at most once."""
_BY_BATCH: frozenset[Observable] = frozenset({"batches", "checkpoint"})
"""Shows which offsets were read again."""


@dataclass(frozen=True, kw_only=True)
class _Audit(ExpectationKind):
    name: str = "audit"
    summary: str = (
        "Every input event had its expected outcome, once and in order: nothing lost, duplicated, conflicting, out "
        "of order, in the wrong topic or with another payload. Or bounds on the audit's counts, over all audited "
        "programs; repeats and conflicts that a restart explains are counted separately, as `excused` and "
        "`excused_conflicts`."
    )
    example: str = "clean"
    argument: Any = CleanOrCounts

    def judge(self, argument: str | AuditCounts, observation: ArmObservation) -> Finding:
        if observation.audit.unaudited:
            return Finding(self.name, str(argument), f"n/a: the main program is {NOT_AUDITED}", holds=None)
        if isinstance(argument, AuditCounts):
            return self._judge_counts(argument, observation)
        audits = _audits(observation)
        problems = {problem for audit in audits.values() for problem in audit.problems()}
        measured = "; ".join((f"{name}: " if name else "") + _measured(audit) for name, audit in audits.items())
        if (hidden := observation.hidden) and problems <= MAY_BE_HIDDEN:
            return Finding(self.name, argument, f"n/a: {'; '.join(hidden)}", holds=None)
        if unsure := _unknown_observables(observation, bool(problems)):
            return Finding(self.name, argument, why_not_observable(unsure), holds=None)
        if unaudited := [program.name for program in observation.programs if program.unaudited]:
            measured += f"; of the main program alone, the output of {' and '.join(unaudited)} is not audited"
        # An audit without events, or of events that the pipeline never read, proves nothing.
        holds = not problems and all(audit.inputs > audit.pending for audit in audits.values())
        return Finding(self.name, argument, measured, holds, decisive=any(map(_is_inexcusable, audits.values())))

    def _judge_counts(self, argument: AuditCounts, observation: ArmObservation) -> Finding:
        audits = [*_audits(observation).values()]
        expected, wrong = str(argument), broken_counts(argument, audits)
        measured = ", ".join(f"{name} {count(name, audits)}" for name in argument.bounds)
        if (hidden := observation.hidden) and is_open(argument, audits):
            return Finding(self.name, expected, f"n/a: {'; '.join(hidden)}", holds=None)
        unsure = observation.not_observable & argument.needs(drained=observation.drained)
        if unsure := unsure | (_unknown_of_replays(observation) if argument.depend_on_replays else frozenset()):
            return Finding(self.name, expected, why_not_observable(unsure), holds=None)
        if not wrong and not all(audit.inputs > audit.pending for audit in audits):
            return Finding(self.name, expected, f"n/a: {'; '.join(map(_measured, audits))}", holds=None)
        figures = tuple(bound.bounded(count(name, audits), name) for name, bound in argument.bounds.items())
        is_final = is_decided(argument, audits)
        return Finding(self.name, expected, measured, not wrong, decisive=is_final, figures=figures)

    def check(self, argument: str | AuditCounts, arm: CheckedArm) -> Iterator[Flaw]:
        """A job without a registered truth, and more events than the traffic has."""
        if arm.main.configured is not None and arm.main.configured.truth is None:
            yield Flaw(f"the main program is {NOT_AUDITED}: docs/extend.md shows how a job brings it")
        bounds, events = argument.bounds if isinstance(argument, AuditCounts) else {}, arm.traffic.event_count
        for name in _EVENT_COUNTS:
            least = bounds[name].at_least if name in bounds else None
            if least is not None and least > events:
                yield Flaw(f"no run has {least}: its traffic has {counted(events, 'event')}", (name,))

    def bounds_loss(self, argument: str | AuditCounts) -> bool:
        """`clean` allows none."""
        return not isinstance(argument, AuditCounts) or argument.lost is not None

    def depends_on_time(self, argument: str | AuditCounts, observation: ArmObservation) -> Window | None:
        """Unread and misrouted events do; events that were lost, reordered or falsified do not."""
        audits = _audits(observation).values()
        if observation.audit.unaudited:
            return None
        if isinstance(argument, AuditCounts):
            return time_window(argument, audits)
        if any(map(_is_inexcusable, audits)):
            return None
        if unclean := [audit for audit in audits if audit.problems()]:
            return "commit" if any(audit.timed_out for audit in unclean) else "arm"
        return "arm" if any(audit.inputs == audit.pending for audit in audits) else None


def _audits(observation: ArmObservation) -> dict[str, Audit]:
    """The audits by program; the main program's has no name."""
    return {"": observation.audit} | {
        program.name: program.audit for program in observation.programs if program.audit is not None
    }


def _measured(audit: Audit) -> str:
    if not audit.inputs:
        return "no inputs"
    if audit.inputs == audit.pending:
        return f"nothing was committed: all {audit.inputs} inputs are still in the source"
    if problems := audit.problems():
        return ", ".join(f"{name} {count}" for name, count in problems.items())
    return (
        f"clean: {audit.inputs} in = {audit.outputs} out + {audit.errors} errors + {audit.filtered} filtered"
        + (f" + {audit.lapsed} lapsed, which they may" if audit.lapsed else "")
        + (f" + {audit.deduplicated} deduplicated" if audit.deduplicated else "")
        + (f" + {audit.deferred} deferred" if audit.deferred else "")
        + (f" + {audit.pending} still in the source" if audit.pending else "")
        + _excused("repeat", audit.excused, audit.excused_by_retry)
        + _excused("conflict", audit.excused_conflicts, audit.excused_conflicts_by_retry)
    )


def _excused(noun: str, number: int, by_retry: int) -> str:
    """By its causes."""
    causes = {"replays": number - by_retry, "retried tasks": by_retry}
    return "".join(f", and {counted(share, noun)} by {cause}" for cause, share in causes.items() if share)


def _is_inexcusable(audit: Audit) -> bool:
    """Whether a problem of it is one that no shortage of time excuses."""
    return any(count_inexcusable(name, [audit]) > 0 for name in audit.problems())


def _unknown_observables(observation: ArmObservation, has_problems: bool) -> frozenset[Observable]:
    """What must be observable and is not: the source of records, whether missing events may still come, and whether
    repeated events were read again.
    """
    needed: set[Observable] = {"sources"}
    if not has_problems and not observation.drained:
        needed.add("offsets")
    unknown = observation.not_observable & needed
    return unknown if has_problems else unknown | _unknown_of_replays(observation)


def _unknown_of_replays(observation: ArmObservation) -> frozenset[Observable]:
    """What must be observable, and is not, of each program whose restarts excuse something."""
    missing = [not_observable & _BY_BATCH for audit, not_observable in observation.audited if audit.excused_by_restart]
    return frozenset().union(*missing)


AUDIT = _Audit()
