"""An arm that was played, held against what its scenario expects of it."""

from dataclasses import dataclass

from devkit.headroom.figures import ArmHeadroom
from devkit.headroom.shortage import UNMEASURED, Headroom
from devkit.observe.arm import AnyEvidence, ArmObservation
from devkit.report.result import ArmResult, ProgramResult
from devkit.scenario.arm_name import ArmName
from devkit.scenario.judgement import judge_arm
from devkit.scenario.model import Scenario


@dataclass(frozen=True)
class PlayedArm:
    """What a run's result says of one arm: how it went, and whether its faults fired."""

    result: ArmResult
    evidence: tuple[AnyEvidence, ...]

    @classmethod
    def of(
        cls, scenario: Scenario, arm: ArmName, observation: ArmObservation, headroom: Headroom = UNMEASURED
    ) -> "PlayedArm":
        judged = judge_arm(scenario.expect.of(arm), observation, headroom)
        result = ArmResult(
            holds=judged.holds,
            expectations=judged.expectations,
            ended_by=observation.end.text,
            end=observation.end,
            restarts=observation.restarts,
            replays=observation.replays,
            replayed_offsets=observation.replayed_offsets,
            audit=observation.audit,
            figures=observation.figures,
            exceptions=tuple(map(str, observation.exceptions)),
            failures=observation.failures,
            complaints=observation.complaints,
            caveats=observation.caveats,
            duration_s=round(observation.duration_s, 3),
            headroom=ArmHeadroom.of(headroom),
            short=judged.short,
            programs=tuple(map(ProgramResult.of, observation.programs)),
        )
        return cls(result, observation.evidence)
