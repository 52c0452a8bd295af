"""Why a run did not pass, in the order in which a person looks for it, the same in every report:

    what the program itself said first
    what was missing for a verdict
    expectations that are broken, then those that cannot be judged
    what the arms differ in
    a few events that the audit counted as a problem

Where the evidence is and the command that repeats the run come last; each report has a place of its own for them.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from devkit.observe.arm_role import TWO_ARMS, ArmName
from devkit.observe.audit.model import Audit
from devkit.observe.audit.wrong_outcomes import FILE
from devkit.observe.logs.first_errors import Complaint
from devkit.observe.timeline.run_metadata import difference_text
from devkit.report.expectation_result import ExpectationResult
from devkit.report.next_step import ablation_command, next_step
from devkit.report.result import ArmResult, Result

MOST_EXAMPLES = 5
CAUSE = "a run shows that it is present and acts, not that it makes the incident; `--ablate` shows what the fix needs"
"""What a run shows of what its scenario names as the cause."""
DIFFERENCE = "configuration difference"
AUDIT = "what the audit found"


@dataclass(frozen=True)
class ExplanationPart:
    """`lines` stand below `title`, each a statement. None of them is empty."""

    title: str
    lines: tuple[str, ...]


def headline(result: Result) -> str:
    """The outcome; of an inconclusive run also what was missing, and `what_next` says what to do about it."""
    reason = _in_headline(result)
    return f"{result.outcome}: {reason}" if reason else result.outcome


def what_next(result: Result) -> str:
    """`next: …`, of an inconclusive run, and of one that passed and does not show what its fix needs; else empty."""
    if command := ablation_command(result):
        return f"next: `{command}` shows which of the differences the fix needs"
    return f"next: {next_step(result)}" if _in_headline(result) else ""


def also_differs(result: Result) -> str:
    """`also differs: …`, of a run that passed: what may make the incident, too, and is not named as a cause."""
    if result.exit_code or not result.also_differs:
        return ""
    return f"also differs: {', '.join(result.also_differs)} (not named in `cause`)"


def _in_headline(result: Result) -> str:
    return result.reasons[0] if result.outcome == "inconclusive" and result.reasons else ""


def explanation(result: Result) -> tuple[ExplanationPart, ...]:
    """Of a run with another outcome than the one that was hoped for; what the headline says is not said again, and
    parts without a line are left out.
    """
    unmet = {name: arm for name, arm in result.arms.items() if not arm.holds}
    # A verdict for which a proof is missing may concern arms that hold.
    concerned = unmet or dict(result.arms)
    stated = _in_headline(result)
    parts = {
        "the program said first": [
            f"{name}: {complaint.sentence}" for name, complaint in _complaints(result, concerned)
        ],
        "missing for a verdict": missing(result),
        "broken expectations": [f"{name}: {item.sentence}" for name, arm in unmet.items() for item in broken(arm)],
        "not judged": [line for name, arm in unmet.items() for line in _not_judged(name, arm)],
        DIFFERENCE: difference(result),
        AUDIT: [f"{name}: {line}" for name, arm in unmet.items() for line in (*examples(arm), *_more(name, arm))],
    }
    shown = [ExplanationPart(title, tuple(line for line in lines if line != stated)) for title, lines in parts.items()]
    return tuple(part for part in shown if part.lines)


def _complaints(result: Result, concerned: Mapping[ArmName, ArmResult]) -> list[tuple[ArmName, Complaint]]:
    """Of the arms concerned. A warning that a fixed arm gives which holds explains no failure. One that each arm gives
    alike explains no difference: it counts only where there is nothing else.
    """
    of_each = {
        name: {(complaint.event, complaint.text) for complaint in arm.complaints} for name, arm in result.arms.items()
    }
    sound = [name for name, arm in result.arms.items() if arm.holds and result.roles[name] == "fixed"]
    harmless = set[tuple[str, str]]().union(*(of_each[name] for name in sound))
    alike = set.intersection(*of_each.values()) if len(of_each) > 1 else set()
    every = [
        (name, complaint)
        for name, arm in concerned.items()
        for complaint in arm.complaints
        if complaint.kind != "warning" or (complaint.event, complaint.text) not in harmless
    ]
    distinctive = [
        (name, complaint)
        for name, complaint in every
        if complaint.kind != "warning" or (complaint.event, complaint.text) not in alike
    ]
    return distinctive or every


def _not_judged(name: str, arm: ArmResult) -> list[str]:
    """What the machine was short of is said once for each arm."""
    lines, is_stated = [], False
    for item in unjudged(arm):
        lines.append(f"{name}: {item.short_sentence if is_stated else item.sentence}")
        is_stated |= bool(item.short)
    return lines


def missing(result: Result) -> list[str]:
    """Of an inconclusive run, the reasons that say more than that an expectation is broken or cannot be judged."""
    if result.outcome != "inconclusive":
        return []
    restated = {f"{name}: {item.sentence}" for name, arm in result.arms.items() for item in arm.expectations}
    return [reason for reason in result.reasons if reason not in restated]


def broken(arm: ArmResult) -> tuple[ExpectationResult, ...]:
    """Expectations that do not hold."""
    return tuple(item for item in arm.expectations if item.holds is False)


def unjudged(arm: ArmResult) -> tuple[ExpectationResult, ...]:
    """Expectations of which nothing can be told."""
    return tuple(item for item in arm.expectations if item.holds is None)


def difference(result: Result) -> list[str]:
    """A line for each configuration key in which the arms differ."""
    lines = [f"{key}: {difference_text(values, result.roles)}" for key, values in result.config_difference.items()]
    every = "both" if len(result.roles) == len(TWO_ARMS) else "all"
    return lines or [f"none: {every} arms ran the same configuration"]


def _more(name: ArmName, arm: ArmResult) -> list[str]:
    """Where the rest of what the main program's audit counted is."""
    audit = arm.audit
    problems = audit.problems() | ({"not_emitted": audit.not_emitted} if audit.not_emitted else {})
    is_written = examples(arm) and not audit.unaudited and len(audit.examples) < sum(problems.values())
    return [f"all such events are in {name}/{FILE}"] if is_written and problems.keys() - {"unattributed"} else []


def examples(arm: ArmResult) -> tuple[str, ...]:
    """Events that the audit counted as a problem, of the main program first, then of others by their name; those of an
    arm that holds are left out. Of the main program's, those that a broken expectation is about come first.

    Mismatched ones are left out unless the arm expects something of them: a program of the user's own may write other
    values.
    """
    if arm.holds is not False:
        return ()
    counts = [item for item in arm.expectations if item.name == "audit"]
    broken = [item for item in counts if item.holds is False]
    expects_content = _are_about(counts, "mismatched: ")

    def shown(audit: Audit) -> list[str]:
        return [example for example in audit.examples if expects_content or not example.startswith("mismatched: ")]

    of_main = sorted(shown(arm.audit), key=lambda example: _are_about(broken, example), reverse=True)
    beside = (f"{program.name}: {line}" for program in arm.programs if program.audit for line in shown(program.audit))
    return (*of_main, *beside)[:MOST_EXAMPLES]


def _are_about(expectations: Iterable[ExpectationResult], example: str) -> bool:
    kind = example.partition(":")[0].replace(" ", "_")
    return any(kind in item.expected or item.expected.startswith("clean") for item in expectations)
