"""The verdict in plain words, from figures only: a headline, what it means, and one paragraph of what happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devkit.observe.arm import Evidence, TimelineEvidence
from devkit.observe.audit.model import Audit
from devkit.observe.figures import Figures
from devkit.report.arm_record import ArmRecord
from devkit.report.page.figures import figure, number
from devkit.report.page.tables import result_of
from devkit.report.result import ArmResult, Outcome, Result
from devkit.report.run_record import RunRecord

_MUCH_MORE_THAN_ONE = 1.1
_SOME = 0.05

Mood = Literal["good", "bad", "unknown"]

_MEANING: dict[Outcome, tuple[Mood, str]] = {
    "reproduced and fixed": (
        "good",
        "The incident happens with its configuration, and on the same traffic does not with the fix.",
    ),
    "not reproduced": (
        "bad",
        "With the incident's configuration not everything happened that makes it this incident; so nothing is proven "
        "of the fix.",
    ),
    "fix does not hold": ("bad", "The incident happens with its configuration, and the fix does not mend all of it."),
    "incident arm holds": ("good", "The incident happens with its configuration. The fix was not tried."),
    "incident arm does not hold": ("bad", "With the incident's configuration, not everything expected happened."),
    "fixed arm holds": ("good", "All is well with the fix. The incident was not tried."),
    "fixed arm does not hold": ("bad", "With the fix, not all is as it should be."),
    "inconclusive": (
        "unknown",
        "Nothing is known of the scenario: what should have caused the incident was not seen to happen, or the machine "
        "was too short of time to tell.",
    ),
}
_BROKEN_ALL_THE_SAME = (
    "Neither proven nor refuted: something that the verdict rests on was not seen, such as a fault that never began. "
    "What was measured is not what was expected all the same: the reasons say which, and decide nothing by it."
)
_MARKS: dict[Mood, str] = {"good": "✓", "bad": "✗", "unknown": "?"}


@dataclass(frozen=True)
class Verdict:
    """`mark` and `headline` say by themselves what `mood` says by colour."""

    mood: Mood
    mark: str
    headline: str
    meaning: str
    exit_code: int | None
    reasons: tuple[str, ...]


def verdict(run: RunRecord) -> Verdict:
    """Of a run without a result there is none, and it says why."""
    if run.result is not None:
        mood, meaning = _MEANING[run.result.outcome]
        if mood == "unknown" and any(arm.holds is False for arm in run.result.arms.values()):
            meaning = _BROKEN_ALL_THE_SAME
        headline = run.result.outcome.capitalize()
        return Verdict(mood, _MARKS[mood], headline, meaning, run.result.exit_code, run.result.reasons)
    if run.broke_off is not None:
        reasons = (run.broke_off,)
        return Verdict("unknown", _MARKS["unknown"], "No verdict", "The kit could not finish the run.", 3, reasons)
    meaning = "The run was ended before it came to a verdict, or it still goes on."
    return Verdict("unknown", _MARKS["unknown"], "No verdict", meaning, None, ())


def paragraph(run: RunRecord) -> str:
    """What happened in each arm that was played, and how the faults showed."""
    results = {name: result_of(run, name) for name in run.arms}
    upstream = any(_is_noteworthy(result.figures) for result in results.values() if result)
    said = []
    for name, arm in run.arms.items():
        result = results[name]
        said.append(_arm_sentence(name, arm, result))
        if result and upstream:
            said.append(_upstream_sentence(result.figures))
    if run.result and any(run.result.fault_evidence.values()):
        said.append(_fault_sentence(run.result))
    return " ".join(said)


def _arm_sentence(name: str, arm: ArmRecord, result: ArmResult | None) -> str:
    restarts = max(0, len(arm.processes) - 1)
    said = ["With the incident's configuration" if name == "incident" else "With the fix"]
    said.append(f" the pipeline was restarted {_times(restarts)}" if restarts else " the pipeline was never restarted")
    if result and result.replayed_offsets:
        said.append(f" and read {number(result.replayed_offsets)} offsets again")
    if arm.samples and arm.shows_offsets:
        last = arm.samples[-1]
        said.append(f"; it had committed {number(last.committed)} of {number(last.source_end)} events")
    said.append(f" when the arm ended after {number(arm.duration_s)} s")
    said.append(f" ({arm.ended_by})" if arm.ended_by else ", cut short")
    if result:
        said.append(f", and {_fates(result.audit)}")
    return "".join([*said, "."])


def _fates(audit: Audit) -> str:
    fates = {
        "left as output": audit.outputs,
        "as error events": audit.errors,
        "were filtered": audit.filtered,
        "were still deferred": audit.deferred,
        "were lost": audit.lost,
    }
    always = ("left as output", "as error events")
    return ", ".join(f"{number(count)} {fate}" for fate, count in fates.items() if count or fate in always)


def _is_noteworthy(figures: Figures) -> bool:
    return (figures.amplification or 0) > _MUCH_MORE_THAN_ONE or (figures.abandoned_share or 0) > _SOME


def _upstream_sentence(figures: Figures) -> str:
    said = f"It made {number(figures.requests)} requests for {number(figures.fetches)} fetches"
    if figures.abandoned_share is not None:
        said += (
            f", and nobody waited any more for {figure(figures.abandoned_share, 'percent')} of the upstream's parses"
        )
    return f"{said}."


def _fault_sentence(result: Result) -> str:
    return " ".join([*_rule_sentence(result), *_timeline_sentences(result)])


def _timeline_sentences(result: Result) -> Iterator[str]:
    for arm, items in result.fault_evidence.items():
        for item in items:
            if isinstance(item, TimelineEvidence) and item.from_s is not None and item.to_s is not None:
                when = f"from {number(item.from_s)} to {number(item.to_s)} s"
                yield f"Fault {item.fault!r} in the {arm} arm ({item.asked}), {when}: {item.did}."


def _rule_sentence(result: Result) -> Iterator[str]:
    arms = list(result.fault_evidence)
    counts: dict[str, dict[str, int]] = {}
    for arm, items in result.fault_evidence.items():
        for item in items:
            if isinstance(item, Evidence):
                counts.setdefault(item.fault, {})[arm] = item.requests
    if not counts:
        return
    said = [f"{fault!r} {' and '.join(number(of.get(arm, 0)) for arm in arms)}" for fault, of in counts.items()]
    where = f" in the {' and the '.join(arms)} arm" if len(arms) > 1 else ""
    yield f"Requests that met the faults{where}: {', '.join(said)}."


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")
