"""An arm that was played, held against what its scenario expects of it."""

from collections.abc import Sequence
from dataclasses import dataclass

from devkit.expectations import Finding
from devkit.observe.arm import AnyEvidence, ArmObservation
from devkit.report.result import ArmResult, ExpectationResult
from devkit.scenario.model import ArmName, Scenario


@dataclass(frozen=True)
class PlayedArm:
    """What a run's result says of one arm: how it went, and whether its faults fired."""

    result: ArmResult
    evidence: tuple[AnyEvidence, ...]

    @classmethod
    def of(cls, scenario: Scenario, arm: ArmName, observation: ArmObservation) -> "PlayedArm":
        findings = [expectation.judge(observation) for expectation in scenario.expect.of(arm)]
        result = ArmResult(
            holds=_holds(findings),
            expectations=tuple(
                ExpectationResult(
                    name=finding.name, expected=finding.expected, measured=finding.measured, holds=finding.holds
                )
                for finding in findings
            ),
            ended_by=observation.end.text,
            end=observation.end,
            restarts=observation.restarts,
            replays=observation.replays,
            replayed_offsets=observation.replayed_offsets,
            audit=observation.audit,
            figures=observation.figures,
            exceptions=tuple(
                f"process {logged.process}: {logged.class_name}: {logged.message}" for logged in observation.exceptions
            ),
            failures=observation.failures,
            caveats=observation.caveats,
            duration_s=round(observation.duration_s, 3),
        )
        return cls(result, observation.evidence)


def _holds(findings: Sequence[Finding]) -> bool | None:
    """One that is broken decides; else one that nobody can judge."""
    if any(finding.holds is False for finding in findings):
        return False
    return None if any(finding.holds is None for finding in findings) else True
