"""The verdict of a run, computed from findings and evidence alone.

1. The cause must be shown, else the run is inconclusive: what `cause` names, or every fault if it names nothing
   (`devkit.verdict.fault_proof`). An operator's change to an arm makes the run inconclusive as well.
2. Every incident arm must hold, else "not reproduced"; then every fixed arm, else "fix does not hold". One broken
   expectation refutes an arm. One that cannot be judged makes the run inconclusive.
3. Events that a fixed arm lost, reordered or falsified refute the fix in any case. A fixed arm that ended by time must
   have kept up with its traffic, or its file must bound its progress (`devkit.verdict.incomplete_drain`). One that
   lost events must have an expectation that says how many it may lose (`devkit.verdict.unbounded_loss`).
4. If all arms hold, expectations must distinguish incident and fixed arms (`devkit.verdict.distinguishable`), and fixed
   arms must have met the faults of incident arms (`devkit.verdict.unmet_faults`).
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
    """Inconclusive only for that reason: a faster machine or a larger stretch would decide it."""

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
    """The verdict on the played arms. If all have one role, it says whether they hold.

    `cause` has the causes that the scenario names; without, every fault is one. `unproven_fix` says why no fix is shown
    although all arms hold. Arms in `not_started` need not show a fault.
    """
    played = {arm: evidence.get(arm, ()) for arm in arms if arm not in not_started}
    if cause:
        not_shown = [result.statement for result in cause if not result.shown]
    elif not played and len(arms) > 1:
        not_shown = ["no arm ran, so nothing shows that the incident's cause was present"]
    else:
        unproven_faults = [reason for fault in fault_names(played) for reason in unproven(fault, played, roles)]
        not_shown = [*arms_without_any(played, roles), *unproven_faults]
    not_shown += unreached(played)
    late = [f"{arm}: ended by its {result.end.text}" for arm, result in arms.items() if _was_late(result)]
    broken = [reason for arm, result in arms.items() for reason in _broken_sentences(arm, result)]
    if not_shown:
        # Broken expectations decide nothing here, but help to find what went wrong.
        return Verdict("inconclusive", (*not_shown, *broken, *late))
    if meddled := [f"{arm}: {caveat}" for arm, result in arms.items() for caveat in result.caveats]:
        return Verdict("inconclusive", (*meddled, *late))
    cold = {arm: result for arm, result in arms.items() if result.cold}
    incidents, fixes = ([arms[arm] for arm in in_role(roles, role) if arm in arms] for role in ROLES)
    refuted = any(_is_decisively_broken(fixed) for fixed in fixes)
    if cold and not refuted:
        begun_cold = [f"{arm}: {result.cold}" for arm, result in cold.items()]
        # If the arm was short of time anywhere, that is why its warm-up was broken off.
        return Verdict(
            "inconclusive", (*begun_cold, *late), short_of_time=all(result.was_short for result in cold.values())
        )
    unknown = [reason for arm, result in arms.items() for reason in _undecided_sentences(arm, result)]
    reasons = (*broken, *unknown, *late)
    # An undecided arm may hold, but an arm that was refuted before it stays refuted.
    deciding = next((results for results in (incidents, fixes) if not all(arm.holds for arm in results)), [])
    if deciding and all(arm.holds is not False for arm in deciding):
        if refuted:
            return Verdict("fix does not hold" if incidents else "fixed arm does not hold", reasons)
        # The undecided expectations come first: broken ones of other arms decide nothing then.
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
    return not result.holds and not result.unproven and isinstance(result.end, EndByDeadline)


def _broken_sentences(arm: ArmName, result: ArmResult) -> list[str]:
    return [f"{arm}: {item.sentence}" for item in result.expectations if item.holds is False]


def _undecided_sentences(arm: ArmName, result: ArmResult) -> list[str]:
    reasons = [f"{arm}: {item.sentence}" for item in result.expectations if item.holds is None]
    ended = result.unproven or result.short
    return reasons + ([f"{arm}: {ended}"] if ended and not reasons else [])


def _is_decisively_broken(fixed: ArmResult) -> bool:
    """Broken by a decisive finding, which nothing excuses."""
    return any(item.decisive and item.holds is False for item in fixed.expectations)


def _is_short(arm: ArmResult) -> bool:
    """Unknown only as the machine was short of time."""
    return not arm.unproven and all(item.short for item in arm.expectations if item.holds is None)
