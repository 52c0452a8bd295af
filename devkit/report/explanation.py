"""Why a run did not pass, in the order in which a person looks for it, the same in every report:

    what the program itself said first
    what was missing for a verdict
    expectations that are broken, then those that cannot be judged
    what the arms differ in
    a few events that the audit counted as a problem

Where the evidence is and the command that repeats the run come last; each report has a place of its own for them.
"""

from dataclasses import dataclass

from devkit.report.next_step import next_step
from devkit.report.result import ArmResult, ExpectationResult, Result

MOST_EXAMPLES = 5
DIFFERENCE = "configuration difference"
AUDIT = "what the audit found"


@dataclass(frozen=True)
class ExplanationPart:
    """`lines` stand below `title`, each a statement. None of them is empty."""

    title: str
    lines: tuple[str, ...]


def headline(result: Result) -> str:
    """The outcome; of an inconclusive run also what was missing and what to do next."""
    reason = _in_headline(result)
    return f"{result.outcome}: {reason}; next: {next_step(result)}" if reason else result.outcome


def _in_headline(result: Result) -> str:
    return result.reasons[0] if result.outcome == "inconclusive" and result.reasons else ""


def explanation(result: Result) -> tuple[ExplanationPart, ...]:
    """Of a run with another outcome than the one that was hoped for; what the headline says is not said again, and
    parts without a line are left out.
    """
    unmet = {name: arm for name, arm in result.arms.items() if not arm.holds}
    # A verdict for which a proof is missing may concern arms that hold.
    concerned = unmet or dict(result.arms)
    parts = {
        "the program said first": [f"{name}: {one.told}" for name, arm in concerned.items() for one in arm.complaints],
        "missing for a verdict": missing(result),
        "broken expectations": [f"{name}: {item.told}" for name, arm in unmet.items() for item in broken(arm)],
        "not judged": [f"{name}: {item.told}" for name, arm in unmet.items() for item in unjudged(arm)],
        DIFFERENCE: difference(result),
        AUDIT: [f"{name}: {one}" for name, arm in unmet.items() for one in examples(arm)],
    }
    said = _in_headline(result)
    found = [ExplanationPart(title, tuple(line for line in lines if line != said)) for title, lines in parts.items()]
    return tuple(part for part in found if part.lines)


def missing(result: Result) -> list[str]:
    """Of an inconclusive run, the reasons that say more than that an expectation is broken or cannot be judged."""
    if result.outcome != "inconclusive":
        return []
    restated = {f"{name}: {item.told}" for name, arm in result.arms.items() for item in arm.expectations}
    return [reason for reason in result.reasons if reason not in restated]


def broken(arm: ArmResult) -> tuple[ExpectationResult, ...]:
    """Expectations that do not hold."""
    return tuple(item for item in arm.expectations if item.holds is False)


def unjudged(arm: ArmResult) -> tuple[ExpectationResult, ...]:
    """Expectations of which nothing can be told."""
    return tuple(item for item in arm.expectations if item.holds is None)


def difference(result: Result) -> list[str]:
    """A line for each configuration key in which the arms differ."""
    lines = [
        f"{key}: {values.incident} (incident) → {values.fixed} (fixed)"
        for key, values in result.config_difference.items()
    ]
    return lines or ["none: both arms ran the same configuration"]


def examples(arm: ArmResult) -> tuple[str, ...]:
    """Events that the audit counted as a problem; those of an arm that holds are no news."""
    return arm.audit.examples[:MOST_EXAMPLES] if arm.holds is False else ()
