"""What an arm's expectations come to on the machine that it was played on.

A finding that depends on time says nothing where the machine was short of it, whether it holds or not: a fix may look
broken there, and an incident reproduced. So too an arm that its deadline ended, or restarts which such a machine
makes: what had not happened by then might have. What is found all the same counts, and what was lost, reordered or
falsified is excused by nothing. The steps of an arm are expectations too, and come first.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from devkit.expectations import Expectation
from devkit.expectations.base import Finding
from devkit.expectations.timing import end_window
from devkit.headroom.shortage import SLOWEST, Headroom, Window
from devkit.observe.arm_observation import ArmObservation
from devkit.observe.timeline.action_outcomes import StepOutcome
from devkit.report.expectation_result import ExpectationResult


@dataclass(frozen=True)
class Judgement:
    """`short` says that the machine was short of time for the arm's end, "" where it was not."""

    expectations: tuple[ExpectationResult, ...]
    short: str

    @property
    def holds(self) -> bool | None:
        """One that is broken decides; else one that cannot be judged, or an end that the machine made."""
        judged = [item.holds for item in self.expectations]
        if False in judged:
            return False
        return None if None in judged or self.short else True


def judge_arm(expectations: Sequence[Expectation], observation: ArmObservation, headroom: Headroom) -> Judgement:
    """Hold each expectation against what was observed, and against the time that the machine had for it."""
    window = end_window(observation)
    short = None if window is None else headroom.shortage(window)
    ended = f"ended by its {observation.end.text}, and {short}" if short else ""
    steps = [(_finding(step), _window(step)) for step in observation.steps]
    found = [(one.judge(observation), one.depends_on_time(observation)) for one in expectations]
    return Judgement(tuple(_judged(*one, headroom, ended) for one in (*steps, *found)), ended)


def _finding(step: StepOutcome) -> Finding:
    """One that had not come to its end when the arm did is broken, as what was awaited did not come."""
    waited = "" if step.from_s is None else "had not come when the arm ended"
    return Finding(step.name, step.step, step.did or waited or "its turn never came", bool(step.holds))


def _window(step: StepOutcome) -> Window | None:
    return "arm" if step.timed_out else None


def _judged(finding: Finding, window: Window | None, headroom: Headroom, ended: str) -> ExpectationResult:
    short = ""
    slow = None if window is None else headroom.slowest(window)
    if finding.holds is not None and not finding.decisive:
        if window is not None:
            short = headroom.shortage(window) or ""
        if not finding.holds:
            short = short or ended
    return ExpectationResult(
        name=finding.name,
        expected=finding.expected,
        measured=finding.measured,
        holds=None if short else finding.holds,
        depends_on_time=window is not None,
        decisive=finding.decisive,
        figures=finding.figures,
        short=short,
        slowdown=None if slow is None else round(min(slow.slowdown, SLOWEST), 2),
    )
