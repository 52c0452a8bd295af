"""Judges the expectations of an arm, given how busy the machine was.

A finding that depends on time is undecided if the machine was short of time: a fix may look broken, and an incident
reproduced. The same holds for broken findings of an arm that ended by its deadline, or by restarts that a busy machine
causes. Nothing excuses events that were lost, reordered or falsified. The steps of an arm are judged first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from devkit.expectations import Expectation
from devkit.expectations.base import Finding
from devkit.expectations.timing import end_window
from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.headroom.shortage import SLOWEST, UNMEASURED, Headroom, Window
from devkit.observe.arm_observation import AnyEvidence, ArmObservation
from devkit.observe.arm_role import ArmName
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.report.expectation_result import ExpectationResult
from devkit.report.result import ArmResult, ProgramResult
from devkit.scenario.model import Scenario
from devkit.verdict.incomplete_drain import incomplete_drain
from devkit.verdict.unbounded_loss import unbounded_loss


@dataclass(frozen=True)
class Judgement:
    """`short` says that the machine was short of time for the arm's end, "" where it was not."""

    expectations: tuple[ExpectationResult, ...]
    short: str

    @property
    def holds(self) -> bool | None:
        """False if any expectation is broken; None if one cannot be judged, or if a busy machine caused the end."""
        findings = [item.holds for item in self.expectations]
        if False in findings:
            return False
        return None if None in findings or self.short else True


def judge_arm(expectations: Sequence[Expectation], observation: ArmObservation, headroom: Headroom) -> Judgement:
    """Judge each expectation by what was observed, and by the time that the machine had for it."""
    window = end_window(observation)
    short = None if window is None else headroom.shortage(window)
    end_problem = f"ended by its {observation.end.text}, and {short}" if short else ""
    steps = [(_step_finding(step), _step_window(step)) for step in observation.steps]
    judged = [(expected.judge(observation), expected.depends_on_time(observation)) for expected in expectations]
    results = (_judge_finding(finding, needed, headroom, end_problem) for finding, needed in (*steps, *judged))
    return Judgement(tuple(results), end_problem)


def _step_finding(step: StepOutcome) -> Finding:
    """A step that had not ended when the arm did is broken."""
    waited = "" if step.from_s is None else "had not come when the arm ended"
    return Finding(step.name, step.step, step.did or waited or "its turn never came", bool(step.holds))


def _step_window(step: StepOutcome) -> Window | None:
    return "arm" if step.timed_out else None


def _judge_finding(finding: Finding, window: Window | None, headroom: Headroom, end_problem: str) -> ExpectationResult:
    short = finding.short
    slow = None if window is None else headroom.slowest(window)
    slowdown = None if slow is None else slow.slowdown
    if finding.short:
        slowdown = finding.slowdown
    if finding.holds is not None and not finding.decisive:
        if window is not None:
            short = headroom.shortage(window) or ""
        if not finding.holds:
            short = short or end_problem
    return ExpectationResult(
        name=finding.name,
        expected=finding.expected,
        measured=finding.measured,
        holds=None if short else finding.holds,
        depends_on_time=window is not None,
        decisive=finding.decisive,
        figures=finding.figures,
        short=short,
        slowdown=None if slowdown is None else round(min(slowdown, SLOWEST), 2),
    )


@dataclass(frozen=True)
class JudgedArm:
    """The result of one arm, and the evidence of its faults."""

    result: ArmResult
    evidence: tuple[AnyEvidence, ...]

    @classmethod
    def of(
        cls, scenario: Scenario, arm: ArmName, observation: ArmObservation, headroom: Headroom = UNMEASURED
    ) -> "JudgedArm":
        """Judge the observation. Without `headroom` nothing counts as short of time."""
        expected = scenario.expected_of(arm)
        judged = judge_arm(expected, observation, headroom)
        role = scenario.roles[arm]
        unproven = ""
        if judged.holds:
            unproven = incomplete_drain(arm, role, expected, observation) or unbounded_loss(role, expected, observation)
        result = ArmResult(
            holds=None if unproven else judged.holds,
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
            unproven=unproven,
            programs=tuple(map(ProgramResult.of, observation.programs)) if len(observation.programs) > 1 else (),
            gave_up=observation.main.gave_up,
            gave_up_after=observation.main.gave_up_after,
            refusal=observation.main.refusal,
            steps=observation.steps,
        )
        return cls(result, observation.evidence)
