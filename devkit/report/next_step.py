"""The next step after a run: how to get a verdict after an inconclusive one, and how to learn what the fix needs."""

import shlex
from math import ceil

from devkit.headroom.calibration import MOST
from devkit.observe.arm_end import EndByCondition
from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.observe.arm_role import ROLES, in_role
from devkit.observe.observable import NOT_SHOWN
from devkit.report.result import ArmResult, Result

_TIMES = ("elapsed", "running_for")
_SEVERAL = 2


def next_step(result: Result) -> str:
    """After an inconclusive run: the command to type, or what to change first."""
    repeat = result.repeat
    if result.broke_off:
        return f"see to that, then `{repeat}`"
    if unproven := [name for name, arm in result.arms.items() if arm.unproven]:
        return f"write under `expect` what {unproven[0]} has to do, as the reason says, and repeat the run"
    if cut_short := _cut_short(result):
        return cut_short
    if any(not cause.shown for cause in result.cause):
        return "change what the scenario names as `cause`, or what it plays so that it is shown, and repeat the run"
    evidence = [item for items in result.fault_evidence.values() for item in items]
    if any(isinstance(item, TimelineEvidence) and not (item.fired and item.acted) for item in evidence):
        return "change when it begins in the file's timeline, or how long the arm goes on (`until`), and repeat the run"
    if any(isinstance(item, TimelineEvidence) and item.unreached for item in evidence):
        return "let the fault begin earlier in the file's timeline, or the traffic go on for longer, and repeat the run"
    if early := [item for item in evidence if isinstance(item, Evidence) and not item.fired and item.came_too_early]:
        return _open_in_time(early[0])
    if any(isinstance(item, Evidence) and (not item.fired or item.acted is False) for item in evidence):
        return f"`{repeat} --keep`, then compare the rule's `when` with the requests in the mock's /__mock/journal"
    if not evidence and not result.cause:
        return "give the scenario a fault, in `mock.rules` or in `timeline`"
    if any(arm.caveats for arm in result.arms.values()):
        return f"leave that out: `{repeat}`"
    if any(arm.was_short for arm in result.arms.values()):
        return _with_more_time(result)
    if result.pipeline or any(_is_not_shown(arm) for arm in result.arms.values()):
        return "docs/own-pipeline.md says what a program has to show for each expectation"
    if result.outcome == "inconclusive" and all(arm.holds and not arm.cold for arm in result.arms.values()):
        return "change the scenario as the reason says, and repeat the run"
    return f"`{repeat}`"


def _open_in_time(rule: Evidence) -> str:
    """Of a rule whose window no request met, as all had come before."""
    return (
        f"`traffic_begins: when running` in the file, so that requests come for as long as the traffic lasts, and "
        f"not all at once for a backlog; or let the window of {rule.fault!r} open earlier; then repeat the run"
    )


def ablation_command(result: Result) -> str:
    """The command that shows which differences the fix needs; empty unless the run passed with several differences."""
    if result.exit_code or result.ablation is not None or len(result.config_difference) < _SEVERAL:
        return ""
    incidents, fixes = ([arm for arm in in_role(result.roles, role) if arm in result.arms] for role in ROLES)
    if not incidents or not fixes:
        return ""
    if len(fixes) == 1:
        return f"{result.repeat} --ablate"
    # Only one fixed arm is ablated, and an arm that is named takes the place of all.
    words = _without_option(shlex.split(result.repeat), "--arm")
    return shlex.join([*words, "--ablate", "--arm", incidents[0], "--arm", fixes[0]])


def _cut_short(result: Result) -> str:
    """Advice where a time in the file's `until` ended an arm too early: the same run would end too early again.

    Empty where no arm was ended so, or the machine was too busy.
    """
    for name, arm in result.arms.items():
        end = arm.end
        if not isinstance(end, EndByCondition) or not (key := next((key for key in _TIMES if key in end.reached), "")):
            continue
        has_idle = any(not fault.fired or fault.acted is False for fault in result.fault_evidence.get(name, ()))
        if not arm.was_short and (
            has_idle or (arm.holds is None and not _is_not_shown(arm)) or any(not cause.shown for cause in result.cause)
        ):
            counts = ", which counts from the arm's start: that of the programs is in it" if key == "elapsed" else ""
            return f"let {name} go on for longer: it ended by `{key}` in `until`{counts}; then repeat the run"
    return ""


def _is_not_shown(arm: ArmResult) -> bool:
    """Whether all that cannot be judged is what programs do not show: more time would not help."""
    unjudged = [item for item in arm.expectations if item.holds is None]
    return bool(unjudged) and all(item.measured.startswith(NOT_SHOWN) for item in unjudged)


def _with_more_time(result: Result) -> str:
    stretch = 1 if result.headroom is None else result.headroom.stretch
    measured = [arm.headroom for arm in result.arms.values() if arm.headroom is not None]
    enough = max([min(MOST, 2 * stretch), *(ceil(stretch * arm.slowdown / arm.limit) for arm in measured)])
    if stretch >= MOST or enough > MOST:
        return f"end what else uses the machine, or wait until it is free, then `{result.repeat}`"
    words = _without_option(shlex.split(result.repeat), "--stretch")
    return f"`{shlex.join([*words, '--stretch', str(enough)])}`"


def _without_option(words: list[str], option: str) -> list[str]:
    """The words without the option and its values."""
    kept = list(words)
    while option in kept:
        at = kept.index(option)
        del kept[at : at + 2]
    return kept
