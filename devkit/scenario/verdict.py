"""From findings and evidence to an outcome. It is computed from what was measured, and from nothing else.

No proof that every fault fired in every arm: inconclusive, whatever the expectations say; so too when an operator did
something to an arm. Then every incident arm must hold (else "not reproduced"), then every fixed arm (else "fix does not
hold"). Each is refuted by one broken expectation; short of that, one that cannot be judged makes it inconclusive,
and so does one that depends on time on a machine that was short of it. What a fixed arm lost, reordered or falsified
refutes the fix in any case. A fixed arm that its deadline ended with events in the source is not known to hold, unless
its file says whether it drains.

Where all hold, and nothing that is expected tells an incident arm from a fixed one, no fix was shown: inconclusive.

What a scenario names as its `cause` must be shown, and nothing else. Where it names none, every fault is the cause.

A fault fired in an arm when it met a request there. One that picks its requests by what clients do (a second attempt,
say) need not fire in the fixed arm. One that acts under load only (a capacity, a gateway's timeout, a rate limit) must
besides be seen to act in one of the arms. Which one is what the arms differ in: a fix may well take the load away,
so a fixed arm played by itself need not show it.

A fault of the timeline must have begun and its part must have shown it, in each arm that it is for. One that is for the
incident arm alone leaves a fixed arm without a fault: that is then what the arms differ in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from devkit.errors import INCONCLUSIVE, REFUTED, REPRODUCED_AND_FIXED
from devkit.observe.arm_end import EndByDeadline
from devkit.observe.arm_observation import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.arm_role import ROLES, TWO_ARMS, ArmName, ArmRole, Roles, in_role
from devkit.report.result import ArmResult, CauseResult, Outcome
from located_config.count import counted

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
    alike: tuple[str, ...] = (),
) -> Verdict:
    """The verdict over the arms that were played; where they are all of one role, whether these hold.

    `cause` is what the scenario names as such; without, it is every fault. `alike` has a sentence for each incident arm
    that nothing expected tells from a fixed one.
    """
    played = {arm: evidence.get(arm, ()) for arm in arms}
    if cause:
        unproven = [one.told for one in cause if not one.shown]
    else:
        unproven = [reason for arm in arms for reason in _unproven(arm, evidence, roles)] + _idle(played, roles)
    late = [f"{arm}: ended by its {result.end.text}" for arm, result in arms.items() if _was_late(result)]
    broken = [reason for arm, result in arms.items() for reason in _broken(arm, result)]
    if unproven:
        # They decide nothing, but who looks for what went wrong needs them.
        return Verdict("inconclusive", (*unproven, *broken, *late))
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
    if not incidents:
        return Verdict("fixed arm does not hold" if deciding else "fixed arm holds", reasons)
    if not deciding:
        return Verdict("inconclusive", alike) if alike else Verdict("reproduced and fixed", reasons)
    return Verdict("not reproduced" if deciding is incidents else "fix does not hold", reasons)


def _unproven(arm: ArmName, evidence: Mapping[ArmName, Sequence[AnyEvidence]], roles: Roles) -> list[str]:
    of_arm, role = evidence.get(arm, ()), roles[arm]
    of_incidents = [item for name in in_role(roles, "incident") for item in evidence.get(name, ())]
    if not of_arm and not (role == "fixed" and _only_timeline(of_incidents)):
        return [f"{arm}: no fault was injected, so nothing shows that the incident's cause was present"]
    return [f"{arm}: {reason}" for item in of_arm if (reason := _unproven_fault(role, item))]


def _only_timeline(evidence: Sequence[AnyEvidence]) -> bool:
    return bool(evidence) and all(isinstance(item, TimelineEvidence) for item in evidence)


def _unproven_fault(role: ArmRole, item: AnyEvidence) -> str | None:
    if isinstance(item, TimelineEvidence):
        if not item.fired:
            came = f": {item.did}" if item.did else ""
            return f"fault {item.fault!r} never began ({item.asked}){came}"
        return None if item.acted else f"fault {item.fault!r} was not seen to act: {item.did}"
    may_be_unmet = role == "fixed" and item.by_client
    return None if item.fired or may_be_unmet else f"fault {item.fault!r} matched no request"


def _idle(evidence: Mapping[ArmName, Sequence[AnyEvidence]], roles: Roles) -> list[str]:
    of_mock = {arm: [item for item in items if isinstance(item, Evidence)] for arm, items in evidence.items()}
    acted = {item.fault for items in of_mock.values() for item in items if item.acted}
    return [
        f"{arm}: fault {item.fault!r} matched {counted(item.requests, 'request')} and never acted: {item.inaction}"
        for arm in in_role(roles, "incident")
        for item in of_mock.get(arm, ())
        if item.fired and item.acted is False and item.fault not in acted
    ]


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
