"""From findings and evidence to an outcome. It is computed from what was measured, and from nothing else.

No proof that every fault fired in every arm: inconclusive, whatever the expectations say; so too when an operator did
something to an arm. Then the incident arm must hold (else "not reproduced"), then the fixed arm (else "fix does not
hold"). Each is refuted by one broken expectation; short of that, one that cannot be judged makes it inconclusive,
and so does one that depends on time on a machine that was short of it. What a fixed arm lost or reordered refutes the
fix in any case.

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
from devkit.observe.arm import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.arm_end import EndByDeadline
from devkit.report.result import ArmResult, Outcome
from devkit.scenario.arm_name import ARMS, ArmName
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
        return _EXIT_CODES[self.outcome]


def judge(arms: Mapping[ArmName, ArmResult], evidence: Mapping[ArmName, Sequence[AnyEvidence]]) -> Verdict:
    """The verdict over the arms that were played: both, or a single one."""
    unproven = [reason for arm in arms for reason in _unproven(arm, evidence)]
    unproven += _idle({arm: evidence.get(arm, ()) for arm in arms})
    late = [f"{arm}: ended by its {result.end.text}" for arm, result in arms.items() if _was_late(result)]
    broken = [reason for arm, result in arms.items() for reason in _broken(arm, result)]
    if unproven:
        # They decide nothing, but who looks for what went wrong needs them.
        return Verdict("inconclusive", (*unproven, *broken, *late))
    if meddled := [f"{arm}: {caveat}" for arm, result in arms.items() for caveat in result.caveats]:
        return Verdict("inconclusive", (*meddled, *late))
    unknown = [reason for arm, result in arms.items() for reason in _unknown(arm, result)]
    reasons = (*broken, *unknown, *late)
    # An arm that is not known cannot be told from one that holds, but what is refuted before it counts stays refuted.
    first = next((arms[arm] for arm in ARMS if arm in arms and not arms[arm].holds), None)
    if "fixed" in arms and first is not None and first.holds is None and _is_decided(arms["fixed"]):
        return Verdict("fix does not hold" if "incident" in arms else "fixed arm does not hold", reasons)
    if first is not None and first.holds is None:
        # What keeps it from a verdict comes first: broken expectations of the other arm decide nothing then.
        return Verdict("inconclusive", (*unknown, *broken, *late), short_of_time=_is_short(first))
    if len(arms) == 1:
        ((arm, result),) = arms.items()
        if arm == "incident":
            return Verdict("incident arm holds" if result.holds else "incident arm does not hold", reasons)
        return Verdict("fixed arm holds" if result.holds else "fixed arm does not hold", reasons)
    if not arms["incident"].holds:
        return Verdict("not reproduced", reasons)
    return Verdict("reproduced and fixed" if arms["fixed"].holds else "fix does not hold", reasons)


def _unproven(arm: ArmName, evidence: Mapping[ArmName, Sequence[AnyEvidence]]) -> list[str]:
    of_arm = evidence.get(arm, ())
    if not of_arm and not (arm == "fixed" and _only_timeline(evidence.get("incident", ()))):
        return [f"{arm}: no fault was injected, so nothing shows that the incident's cause was present"]
    return [f"{arm}: {reason}" for item in of_arm if (reason := _unproven_fault(arm, item))]


def _only_timeline(evidence: Sequence[AnyEvidence]) -> bool:
    return bool(evidence) and all(isinstance(item, TimelineEvidence) for item in evidence)


def _unproven_fault(arm: ArmName, item: AnyEvidence) -> str | None:
    if isinstance(item, TimelineEvidence):
        if not item.fired:
            came = f": {item.did}" if item.did else ""
            return f"fault {item.fault!r} never began ({item.asked}){came}"
        return None if item.acted else f"fault {item.fault!r} was not seen to act: {item.did}"
    may_be_unmet = arm == "fixed" and item.by_client
    return None if item.fired or may_be_unmet else f"fault {item.fault!r} matched no request"


def _idle(evidence: Mapping[ArmName, Sequence[AnyEvidence]]) -> list[str]:
    of_mock = {arm: [item for item in items if isinstance(item, Evidence)] for arm, items in evidence.items()}
    if "incident" not in of_mock:
        return []
    acted = {item.fault for items in of_mock.values() for item in items if item.acted}
    return [
        f"incident: fault {item.fault!r} matched {counted(item.requests, 'request')} and never acted: {item.inaction}"
        for item in of_mock["incident"]
        if item.fired and item.acted is False and item.fault not in acted
    ]


def _was_late(result: ArmResult) -> bool:
    return not result.holds and isinstance(result.end, EndByDeadline)


def _broken(arm: ArmName, result: ArmResult) -> list[str]:
    return [f"{arm}: {item.told}" for item in result.expectations if item.holds is False]


def _unknown(arm: ArmName, result: ArmResult) -> list[str]:
    reasons = [f"{arm}: {item.told}" for item in result.expectations if item.holds is None]
    return reasons + ([f"{arm}: {result.short}"] if result.short and not reasons else [])


def _is_decided(fixed: ArmResult) -> bool:
    """Broken by what is excused by nothing, whatever the incident arm would have shown."""
    return any(item.decisive and item.holds is False for item in fixed.expectations)


def _is_short(arm: ArmResult) -> bool:
    """Unknown only as the machine was short of time."""
    return all(item.short for item in arm.expectations if item.holds is None)
