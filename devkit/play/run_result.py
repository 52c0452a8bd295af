"""The result of a run: the verdict on the arms that were played, and whether they are to be played again, slower."""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

from devkit.errors import INCONCLUSIVE, DevkitError
from devkit.headroom.calibration import larger_stretch
from devkit.headroom.headroom_figures import RunHeadroom
from devkit.observe.arm_observation import ComparedArm
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.report.result import ArmResult, CauseResult, Result
from devkit.verdict.judgement import JudgedArm
from devkit.verdict.verdict import judge


@dataclass(frozen=True)
class Played:
    """`play_again` is the stretch for another play if the machine was short of time; None if the verdict stands."""

    result: Result
    play_again: int | None
    compared: Mapping[ArmName, ComparedArm] = field(default_factory=dict)

    @property
    def stretch(self) -> int:
        """Factor by which the scenario's durations were multiplied; 1 where the result has no headroom."""
        return 1 if self.result.headroom is None else self.result.headroom.stretch


def judged(
    metadata: RunMetadata,
    played: Mapping[ArmName, JudgedArm],
    headroom: RunHeadroom | None,
    *,
    duration_s: float,
    command: str,
    cause: tuple[CauseResult, ...] = (),
    unproven_fix: tuple[str, ...] = (),
    not_started: Collection[ArmName] = (),
    also_differs: tuple[str, ...] = (),
) -> Played:
    """The result of the played arms; further arguments are those of `judge` and `Result`."""
    arms = {arm: arm_played.result for arm, arm_played in played.items()}
    evidence = {arm: arm_played.evidence for arm, arm_played in played.items()}
    verdict = judge(arms, evidence, metadata.roles, cause, unproven_fix, not_started)
    result = Result(
        scenario=metadata.scenario,
        title=metadata.title,
        seed=metadata.seed,
        outcome=verdict.outcome,
        exit_code=verdict.exit_code,
        reasons=verdict.reasons,
        arms=arms,
        roles=metadata.roles,
        cause=cause,
        also_differs=also_differs,
        config_difference=metadata.config_difference,
        changes=metadata.changes,
        fault_evidence=evidence,
        began=metadata.began,
        duration_s=round(duration_s, 3),
        versions=metadata.versions,
        repeat=metadata.repeat,
        pipeline=command,
        headroom=headroom,
    )
    return Played(result, stretch_to_repeat(result, short_of_time=verdict.short_of_time))


def broken_off(
    metadata: RunMetadata,
    played: Mapping[ArmName, JudgedArm],
    headroom: RunHeadroom | None,
    error: DevkitError,
    *,
    duration_s: float,
    command: str,
) -> Result:
    """The inconclusive result when the kit failed after at least one arm had ended."""
    result = judged(metadata, played, headroom, duration_s=duration_s, command=command).result
    missing = [arm for arm in metadata.arms if arm not in played]
    where = f"before the {missing[0]} arm had ended" if missing else "after the last arm"
    return result.model_copy(
        update={
            "outcome": "inconclusive",
            "exit_code": INCONCLUSIVE,
            "reasons": (f"the kit could not go on, {where}: {error.with_hint}",),
            "broke_off": error.with_hint,
        }
    )


def stretch_to_repeat(result: Result, *, short_of_time: bool) -> int | None:
    """The stretch for another play; None if the verdict stands, or a person chose the stretch."""
    headroom = result.headroom
    if not short_of_time or headroom is None or headroom.stretch_by != "calibration":
        return None
    # Where the machine was not watched at all, its shortage is unknown.
    worst = max((slowdown for arm in result.arms.values() for slowdown in _slowdowns(arm)), default=math.inf)
    return larger_stretch(headroom.stretch, worst, headroom.margin)


def _slowdowns(arm: ArmResult) -> Iterator[float]:
    for item in arm.expectations:
        if item.short and item.slowdown is not None:
            yield item.slowdown
    if arm.short and arm.headroom is not None:
        yield arm.headroom.slowdown
