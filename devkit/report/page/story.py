"""The verdict in plain words, from figures only: a headline, what it means, and one paragraph of what happened."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from devkit.observe.arm_observation import Evidence, TimelineEvidence
from devkit.observe.arm_role import ArmName, Roles, in_role
from devkit.observe.audit.model import Audit
from devkit.observe.figures import Figures
from devkit.report.arm_record import ArmRecord
from devkit.report.explanation import (
    AUDIT,
    DIFFERENCE,
    ExplanationPart,
    also_differs,
    explanation,
    headline,
    what_next,
)
from devkit.report.outcome import Outcome
from devkit.report.page.numbers import figure, number
from devkit.report.page.tables import result_of
from devkit.report.result import ArmResult, Result
from devkit.report.run_record import RunRecord
from located_config.count import counted, times

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
        "The incident did not happen with its configuration, or only in part, so the run proves nothing about the fix.",
    ),
    "fix does not hold": (
        "bad",
        "The incident happens with its configuration, and with the fix not all expectations hold.",
    ),
    "incident arm holds": ("good", "The incident happens with its configuration. The fix was not tried."),
    "incident arm does not hold": ("bad", "The incident did not happen with its configuration, or only in part."),
    "fixed arm holds": ("good", "All expectations hold with the fix. The incident was not tried."),
    "fixed arm does not hold": ("bad", "Not all expectations hold with the fix."),
    "inconclusive": (
        "unknown",
        "The run proves nothing about the scenario: the cause of the incident was not observed to act, an expectation "
        "could not be measured, or the machine was too slow to tell.",
    ),
}
_BROKEN_ALL_THE_SAME = (
    "Neither proven nor refuted: something that the verdict needs was not observed, such as a fault that never began. "
    "The expectations below are broken all the same, but they decide nothing."
)
_MARKS: dict[Mood, str] = {"good": "✓", "bad": "✗", "unknown": "?"}


@dataclass(frozen=True)
class VerdictStory:
    """`mark` and `headline` say by themselves what `mood` says by colour. `parts` explain a run that did not pass, in
    the order of every report; `missing` says what there was too little of for a verdict, or in what else the arms
    differ, and `next_step` what to do about it; `reasons` say why there is no result.
    """

    mood: Mood
    mark: str
    headline: str
    meaning: str
    exit_code: int | None
    reasons: tuple[str, ...]
    parts: tuple[ExplanationPart, ...] = ()
    missing: str = ""
    next_step: str = ""


def verdict(run: RunRecord) -> VerdictStory:
    """Of a run without a result there is none, and it says why."""
    if run.result is not None:
        mood, meaning = _MEANING[run.result.outcome]
        if mood == "unknown" and any(arm.holds is False for arm in run.result.arms.values()):
            meaning = _BROKEN_ALL_THE_SAME
        return VerdictStory(
            mood,
            _MARKS[mood],
            run.result.outcome.capitalize(),
            meaning,
            run.result.exit_code,
            (),
            _parts(run.result),
            headline(run.result).removeprefix(run.result.outcome).removeprefix(": ") or also_differs(run.result),
            what_next(run.result),
        )
    if run.broke_off is not None:
        reasons = (run.broke_off,)
        return VerdictStory("unknown", _MARKS["unknown"], "No verdict", "The kit could not finish the run.", 3, reasons)
    meaning = "The run was ended before it came to a verdict, or it still goes on."
    return VerdictStory("unknown", _MARKS["unknown"], "No verdict", meaning, None, ())


def _parts(result: Result) -> tuple[ExplanationPart, ...]:
    """The difference and the audit's examples have sections of their own, just below."""
    if not result.exit_code:
        return ()
    return tuple(part for part in explanation(result) if part.title not in (DIFFERENCE, AUDIT))


def paragraph(run: RunRecord) -> str:
    """What happened in each arm that was played, and how the faults showed."""
    results = {name: result_of(run, name) for name in run.arms}
    upstream = any(_is_noteworthy(result.figures) for result in results.values() if result)
    parts = []
    for name, arm in run.arms.items():
        result = results[name]
        parts.append(f"{_with_what(name, run.metadata.roles)} {_arm_sentence(arm, result)}")
        if result and upstream:
            parts.append(_upstream_sentence(result.figures))
    if run.result and any(run.result.fault_evidence.values()):
        parts.append(_fault_sentence(run.result))
    return " ".join(parts)


def _with_what(arm: ArmName, roles: Roles) -> str:
    """Where several arms have its role, the arm's name says more."""
    if len(in_role(roles, roles[arm])) > 1:
        return f"In the arm {arm}"
    return "With the incident's configuration" if roles[arm] == "incident" else "With the fix"


def _arm_sentence(arm: ArmRecord, result: ArmResult | None) -> str:
    restarts = max(0, len(arm.processes) - 1)
    parts = [f"the pipeline was restarted {times(restarts)}" if restarts else "the pipeline was never restarted"]
    if result and result.given_up:
        parts.append(f" and then {result.given_up}")
    if result and result.replayed_offsets:
        parts.append(f" and read {counted(result.replayed_offsets, 'offset')} again")
    if arm.samples and arm.shows_offsets:
        last = arm.samples[-1]
        parts.append(f"; it had committed {number(last.committed)} of {number(last.source_end)} events")
    parts.append(f" when the arm ended after {number(arm.duration_s)} s")
    parts.append(f" ({arm.ended_by})" if arm.ended_by else ", cut short")
    if result:
        parts.append(f", and {_fates(result.audit)}")
    return "".join([*parts, "."])


def _fates(audit: Audit) -> str:
    main_fates = (f"{number(audit.outputs)} ended as output", f"{number(audit.errors)} as {_plural(audit.errors)}")
    fates = {
        "was filtered": audit.filtered,
        "lapsed": audit.lapsed,
        "was still deferred": audit.deferred,
        "was lost": audit.lost,
    }
    more_fates = (
        f"{number(count)} {fate if count == 1 else fate.replace('was ', 'were ')}"
        for fate, count in fates.items()
        if count
    )
    text = ", ".join((*main_fates, *more_fates))
    return f"{text} (not audited: its job has no truth)" if audit.unaudited else text


def _plural(errors: int) -> str:
    return "an error event" if errors == 1 else "error events"


def _is_noteworthy(figures: Figures) -> bool:
    return (figures.amplification or 0) > _MUCH_MORE_THAN_ONE or (figures.abandoned_share or 0) > _SOME


def _upstream_sentence(figures: Figures) -> str:
    text = f"It made {counted(figures.requests, 'request')} for {counted(figures.fetches, 'fetch', 'fetches')}"
    if figures.abandoned_share is not None:
        text += (
            f", and {figure(figures.abandoned_share, 'percent')} of the upstream's parses ended after their client had "
            "disconnected"
        )
    return f"{text}."


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
    parts = [f"{fault!r} {' and '.join(number(of.get(arm, 0)) for arm in arms)}" for fault, of in counts.items()]
    where = f" in the {' and the '.join(arms)} arm" if len(arms) > 1 else ""
    yield f"Requests that the faults matched{where}: {', '.join(parts)}."
