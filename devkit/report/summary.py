"""`summary.md`: the verdict for a CI job's page, in Markdown that GitHub, GitLab and a terminal can show."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from devkit.observe.arm_observation import AnyEvidence, Evidence, TimelineEvidence
from devkit.observe.settings import not_as_shipped, setting_text
from devkit.observe.timeline.run_metadata import RunMetadata
from devkit.report.ablation import Ablation
from devkit.report.expectation_result import ExpectationResult
from devkit.report.explanation import CAUSE, also_differs, explanation, headline, what_next
from devkit.report.result import ArmResult, Result
from located_config.count import counted

_LONGEST_CELL = 300
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~$@])")
_MARKS = {0: "✅", 1: "❌"}
_UNKNOWN = "❔"
_HOLDS = {True: "holds", False: "does not hold", None: "cannot be judged"}
_NEEDED = {"yes": "yes", "no": "no", "unclear": f"{_UNKNOWN} unclear"}
_SHOWN = {True: "present", False: "❌ not shown"}
_EACH = {True: "✅ ok", False: "❌ FAIL", None: f"{_UNKNOWN} n/a"}


def summary_markdown(result: Result, directory: Path) -> str:
    """Of a run that came to a result."""
    lines = [
        f"## {_MARKS.get(result.exit_code, _UNKNOWN)} {_inline(result.scenario)}: {_inline(headline(result))}",
        "",
        f"{_inline(result.title)} (seed {result.seed}, {result.duration_s:.0f}s, exit code {result.exit_code})",
        "",
    ]
    if changed := not_as_shipped(result.changes):
        lines += [_inline(changed), ""]
    for text in (also_differs(result), what_next(result)):
        if text:
            lines += [_inline(text), ""]
    if result.exit_code:
        for part in explanation(result):
            lines += [f"**{part.title}**", "", *(f"- {_inline(line)}" for line in part.lines), ""]
        lines += _ending(result.repeat, directory)
    for name, arm in result.arms.items():
        lines += [*_arm(name, arm), ""]
    if result.config_difference and not result.exit_code:
        difference = [
            (f"`{key}`", *(_code(setting_text(values.get(arm))) for arm in result.roles))
            for key, values in result.config_difference.items()
        ]
        lines += [*_table(("configuration", *result.roles), difference), ""]
    if result.cause:
        rows = [(_SHOWN[cause.shown], _inline(cause.cause), _inline(cause.did)) for cause in result.cause]
        lines += [f"**Cause**: {_inline(CAUSE)}", "", *_table(("", "cause", "what was seen of it"), rows), ""]
    lines += [*_table(("fault", "arm", "what it did", "fired"), _faults(result)), ""]
    if result.ablation:
        lines += [ablation_markdown(result.ablation)]
    if not result.exit_code:
        lines += _ending(result.repeat, directory)
    return "\n".join(lines)


def ablation_markdown(ablation: Ablation) -> str:
    """What the fix needs, as a part of its own."""
    rows = [
        (
            _NEEDED[item.needed],
            _code(item.difference),
            _code(item.change),
            _inline(item.outcome or "not played"),
            "; ".join(_measured(expectation) for expectation in ablation.broken_in_a_play(item.expectations))
            or _inline(item.reason),
        )
        for item in ablation.differences
    ]
    head = ("needed", "difference", "turned back", "without it", "measured")
    title = f"**What {ablation.arm} needs** of its differences from {ablation.against}. {_inline(ablation.conclusion)}"
    return "\n".join([title, "", *_table(head, rows), "", ""])


def _measured(item: ExpectationResult) -> str:
    return f"{_EACH[item.holds]} {_inline(item.name)}: {_inline(item.measured)} (expected {_inline(item.expected)})"


def broke_off_markdown(metadata: RunMetadata, error: str, directory: Path) -> str:
    """Of a run that the harness could not finish."""
    return "\n".join(
        [
            f"## {_UNKNOWN} {_inline(metadata.scenario)}: no verdict",
            "",
            f"{_inline(metadata.title)} (seed {metadata.seed}, exit code 3)",
            "",
            f"The kit could not finish the run: {_inline(error)}",
            "",
            *_ending(metadata.repeat, directory),
        ]
    )


def _arm(name: str, arm: ArmResult) -> Iterator[str]:
    holds = _HOLDS[arm.holds]
    gave_up = f", {arm.given_up}" if arm.given_up else ""
    yield f"**{name} arm** {holds} ({arm.duration_s:.1f}s, ended by: {_inline(arm.ended_by)}{gave_up})"
    yield ""
    rows = [
        (_EACH[item.holds], _inline(item.name), _inline(item.expected), _inline(item.measured))
        for item in arm.expectations
    ]
    yield from _table(("", "expectation", "expected", "measured"), rows)
    if arm.programs:
        yield ""
        yield from (f"- program {_inline(program.name)}: {_inline(program.text)}" for program in arm.programs)


def _faults(result: Result) -> Iterator[Sequence[str]]:
    for arm, items in result.fault_evidence.items():
        for item in items:
            yield _inline(item.fault), arm, _did(item), _fired(item)
        if not items:
            yield "no fault was injected", arm, "", "no"


def _did(item: AnyEvidence) -> str:
    if isinstance(item, Evidence):
        return f"matched {counted(item.requests, 'request')}"
    if item.from_s is None or item.to_s is None:
        return _inline(item.asked)
    return _inline(f"{item.asked}: {item.from_s:.1f}s to {item.to_s:.1f}s, {item.did}")


def _fired(item: AnyEvidence) -> str:
    if not item.fired:
        return "never"
    if isinstance(item, TimelineEvidence):
        return "yes" if item.acted else "began, but was not seen to act"
    return f"matched, but did not act: {_inline(item.inaction)}" if item.acted is False else "yes"


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"


def _ending(repeat: str, directory: Path) -> Iterator[str]:
    if repeat:
        yield f"Repeat: {_code(repeat)}"
        yield ""
    yield f"Evidence, with `report.html`: {_code(directory)}"
    yield ""


def _inline(text: str) -> str:
    """Text that stays text, on one line."""
    flat = " ".join(text.split())
    short = flat if len(flat) <= _LONGEST_CELL else f"{flat[: _LONGEST_CELL - 1]}…"
    return _SPECIAL.sub(r"\\\1", short)


def _code(value: object) -> str:
    """A value as code: no character in it means anything. A bar would end a table's cell even there."""
    text = " ".join(str(value).split()).replace("|", "\\|")
    return f"`` {text} ``" if "`" in text else f"`{text or ' '}`"
