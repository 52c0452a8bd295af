"""From findings and evidence to an outcome. It is computed from what was measured, and from nothing else.

No proof that every fault fired in every arm: inconclusive, whatever the expectations say; so too when an operator did
something to an arm. Then every incident arm must hold (else "not reproduced"), then every fixed arm (else "fix does not
hold"). Each is refuted by one broken expectation; short of that, one that cannot be judged makes it inconclusive,
and so does one that depends on time on a machine that was short of it. What a fixed arm lost, reordered or falsified
refutes the fix in any case. A fixed arm that a time ended is not known to hold, unless its file bounds its progress or
it kept up with its traffic (`devkit.verdict.incomplete_drain`).

Where all hold, no fix was shown, and the run is inconclusive, if nothing that is expected tells an incident arm from a
fixed one, or if a fixed arm did not meet a fault that an incident arm met (`devkit.verdict.unmet_faults`).

What a scenario names as its `cause` must be shown, and nothing else. Where it names none, every fault is the cause
(`devkit.verdict.fault_proof`). In either case a record must reach what a fault made (`devkit.verdict.unmet_faults`).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.observe.arm_end import EndByDeadline
from devkit.observe.arm_observation import AnyEvidence
from devkit.observe.arm_role import ROLES, TWO_ARMS, ArmName, Roles, in_role
from devkit.report.outcome import Outcome
from devkit.report.result import ArmResult, CauseResult
from devkit.verdict.fault_proof import arms_without_any, fault_names, unproven
from devkit.verdict.unmet_faults import unreached

_EXIT_CODES: dict[Outcome, int] = {
    "reproduced and fixed": REPRODUCED_AND_FIXED,
    "incident arm holds": REPRODUCED_AND_FIXED,
    "fixed arm holds": REPRODUCED_AND_FIXED,
    "not reproduced": REFUTED,
    "fix does not hold": REFUTED,
    "incident arm does not hold": REFUTED,
    "fixed arm does not hold": REFUTED,
    "inconclusive": INCONCLUSIVE,
}


@dataclass(frozen=True)
class Verdict:
    """The outcome, the exit code that says it, and why."""

    outcome: Outcome
    reasons: tuple[str, ...]
    short_of_time: bool = False
    """Inconclusive for that alone: on a machine with more time, or stretched, it could be told."""

    @property
    def exit_code(self) -> int:
        """0 reproduced and fixed, or the single arm holds; 1 refuted; 3 inconclusive."""
        return _EXIT_CODES[self.outcome]


def judge(
    arms: Mapping[ArmName, ArmResult],
    evidence: Mapping[ArmName, Sequence[AnyEvidence]],
    roles: Roles = TWO_ARMS,
    cause: Sequence[CauseResult] = (),
    unproven_fix: tuple[str, ...] = (),
    not_started: Collection[ArmName] = (),
) -> Verdict:
    """The verdict over the arms that were played; where they are all of one role, whether these hold.

    `cause` is what the scenario names as such; without, it is every fault. `unproven_fix` says why no fix is shown
    although all arms hold. Of the arms `not_started` no fault is required.
    """
    played = {arm: evidence.get(arm, ()) for arm in arms if arm not in not_started}
    if cause:
        not_shown = [one.statement for one in cause if not one.shown]
    elif not played and len(arms) > 1:
        not_shown = ["no arm ran, so nothing shows that the incident's cause was present"]
    else:
        of_faults = [reason for fault in fault_names(played) for reason in unproven(fault, played, roles)]
        not_shown = [*arms_without_any(played, roles), *of_faults]
    not_shown += unreached(played)
    late = [f"{arm}: ended by its {result.end.text}" for arm, result in arms.items() if _was_late(result)]
    broken = [reason for arm, result in arms.items() for reason in _broken(arm, result)]
    if not_shown:
        # They decide nothing, but who looks for what went wrong needs them.
        return Verdict("inconclusive", (*not_shown, *broken, *late))
    if meddled := [f"{arm}: {caveat}" for arm, result in arms.items() for caveat in result.caveats]:
        return Verdict("inconclusive", (*meddled, *late))
    cold = {arm: result for arm, result in arms.items() if result.cold}
    incidents, fixes = ([arms[arm] for arm in in_role(roles, role) if arm in arms] for role in ROLES)
    refuted = any(_is_decided(fixed) for fixed in fixes)
    if cold and not refuted:
        begun_cold = [f"{arm}: {result.cold}" for arm, result in cold.items()]
        # A warm-up is broken off for want of time alone where the arm was short of it anywhere.
        return Verdict("inconclusive", (*begun_cold, *late), short_of_time=all(one.was_short for one in cold.values()))
    unknown = [reason for arm, result in arms.items() for reason in _unknown(arm, result)]
    reasons = (*broken, *unknown, *late)
    # An arm that is not known cannot be told from one that holds, but what is refuted before it counts stays refuted.
    deciding = next((of_role for of_role in (incidents, fixes) if not all(arm.holds for arm in of_role)), [])
    if deciding and all(arm.holds is not False for arm in deciding):
        if refuted:
            return Verdict("fix does not hold" if incidents else "fixed arm does not hold", reasons)
        # What keeps it from a verdict comes first: broken expectations of the other arms decide nothing then.
        short = all(_is_short(arm) for arm in deciding if arm.holds is None)
        return Verdict("inconclusive", (*unknown, *broken, *late), short_of_time=short)
    if not fixes:
        return Verdict("incident arm does not hold" if deciding else "incident arm holds", reasons)
    if deciding:
        refutation: Outcome = "not reproduced" if deciding is incidents else "fix does not hold"
        return Verdict(refutation if incidents else "fixed arm does not hold", reasons)
    if unproven_fix:
        return Verdict("inconclusive", unproven_fix)
    return Verdict("reproduced and fixed" if incidents else "fixed arm holds", reasons)


def _was_late(result: ArmResult) -> bool:
    return not result.holds and not result.unfinished and isinstance(result.end, EndByDeadline)


def _broken(arm: ArmName, result: ArmResult) -> list[str]:
    return [f"{arm}: {item.sentence}" for item in result.expectations if item.holds is False]


def _unknown(arm: ArmName, result: ArmResult) -> list[str]:
    reasons = [f"{arm}: {item.sentence}" for item in result.expectations if item.holds is None]
    ended = result.unfinished or result.short
    return reasons + ([f"{arm}: {ended}"] if ended and not reasons else [])


def _is_decided(fixed: ArmResult) -> bool:
    """Broken by what is excused by nothing, whatever the incident arm would have shown."""
    return any(item.decisive and item.holds is False for item in fixed.expectations)


def _is_short(arm: ArmResult) -> bool:
    """Unknown only as the machine was short of time."""
    return not arm.unfinished and all(item.short for item in arm.expectations if item.holds is None)
