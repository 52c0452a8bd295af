"""An arm that was played, held against what its scenario expects of it."""

from dataclasses import dataclass

from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.headroom.shortage import UNMEASURED, Headroom
from devkit.observe.arm_observation import AnyEvidence, ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.report.result import ArmResult, ProgramResult
from devkit.scenario.model import Scenario
from devkit.verdict.incomplete_drain import incomplete_drain
from devkit.verdict.judgement import judge_arm


@dataclass(frozen=True)
class PlayedArm:
    """What a run's result says of one arm: how it went, and whether its faults fired."""

    result: ArmResult
    evidence: tuple[AnyEvidence, ...]

    @classmethod
    def of(
        cls, scenario: Scenario, arm: ArmName, observation: ArmObservation, headroom: Headroom = UNMEASURED
    ) -> "PlayedArm":
        """Judges the observation here. Without `headroom` nothing counts as short of time."""
        expected = scenario.expected_of(arm)
        judged = judge_arm(expected, observation, headroom)
        waits = incomplete_drain(arm, scenario.roles[arm], expected, observation) if judged.holds else ""
        result = ArmResult(
            holds=None if waits else judged.holds,
            expectations=judged.expectations,
            ended_by=observation.end.text,
            end=observation.end,
            restarts=observation.main.restarts,
            replays=observation.main.replays,
            replayed_offsets=observation.replayed_offsets,
            audit=observation.audit,
            figures=observation.figures,
            exceptions=tuple(map(str, observation.main.exceptions)),
            failures=observation.main.failures,
            complaints=observation.complaints,
            caveats=observation.caveats,
            cold=observation.cold,
            duration_s=round(observation.duration_s, 3),
            headroom=ArmHeadroom.of(headroom),
            short=judged.short,
            unfinished=waits,
            programs=tuple(map(ProgramResult.of, observation.programs)) if len(observation.programs) > 1 else (),
            gave_up=observation.main.gave_up,
            refusal=observation.main.refusal,
            steps=observation.steps,
        )
        return cls(result, observation.evidence)
