"""A comparison in plain text, without what is equal in both runs."""

from collections.abc import Iterator

from devkit.compare.comparison import ComparedExpectation, ComparedFigure, ComparedRun, Measured, RunComparison
from devkit.observe.settings import not_as_shipped, setting_text
from devkit.report.text_layout import columns
from located_config.count import counted

_HOLDS = {True: "ok", False: "FAIL", None: "n/a"}


def comparison_lines(comparison: RunComparison) -> Iterator[str]:
    """Lines without line ends."""
    a, b = comparison.a, comparison.b
    yield from _run("a", a)
    yield from _run("b", b)
    if a.scenario != b.scenario:
        yield "They are of different scenarios."
    for name, arms in (("a", comparison.only_a), ("b", comparison.only_b)):
        if arms:
            yield f"Played in {name} alone: {', '.join(arms)}."
    yield ""
    yield "expectations:"
    for item in comparison.expectations:
        yield from _expectation(item)
    yield ""
    differing = [item for item in comparison.figures if item.a != item.b]
    equal = len(comparison.figures) - len(differing)
    yield f"figures, with the ratio b / a ({counted(equal, 'figure')} equal in both):"
    if differing:
        yield from columns([("arm", "figure", "a", "b", "ratio"), *map(_figure, differing)], indent="  ")
    if a.stretch != b.stretch:
        yield f"  times of a are {a.stretch} times the file's, those of b {b.stretch} times"
    yield ""
    yield "configuration:"
    yield from _settings(comparison)
    yield ""
    yield "machine, times slower than when it is free:"
    rows = [("at the start", _number(a.slowdown), _number(b.slowdown))]
    for arm in comparison.machine:
        rows.append((arm.arm, _number(arm.slowdown_a), _number(arm.slowdown_b)))
        rows.append((f"{arm.arm}, slowest 10s", _number(arm.worst_a), _number(arm.worst_b)))
    yield from columns([("", "a", "b"), *rows], indent="  ")
    for part, (one_version, other_version) in comparison.versions.items():
        yield f"  {part}: {one_version or 'none'} (a), {other_version or 'none'} (b)"


def _run(name: str, run: ComparedRun) -> Iterator[str]:
    yield f"{name}: {run.scenario} (seed {run.seed}): {run.outcome}, exit code {run.exit_code}"
    yield f"   {run.directory}"
    if changed := not_as_shipped(run.changes):
        yield f"   {changed}"


def _settings(comparison: RunComparison) -> Iterator[str]:
    """What all arms had otherwise in the same way is one line."""
    arms: dict[tuple[str, str, str], list[str]] = {}
    for setting in comparison.settings:
        if not setting.by_stretch:
            arms.setdefault((setting.key, setting_text(setting.a), setting_text(setting.b)), []).append(setting.arm)
    for (key, a, b), having in arms.items():
        yield f"  {', '.join(having)}: {key}: {a} (a) → {b} (b)"
    stretched = sum(setting.by_stretch for setting in comparison.settings)
    if stretched:
        yield f"  {counted(stretched, 'duration')} of other values by the stretch alone"
    if not comparison.settings:
        yield "  the same in both"


def _expectation(expectation: ComparedExpectation) -> Iterator[str]:
    expected = list(dict.fromkeys(side.expected for side in (expectation.a, expectation.b) if side))
    yield f"  {expectation.arm} {expectation.name} (expected {expected[0] if len(expected) == 1 else 'otherwise in b'})"
    for name, side in (("a", expectation.a), ("b", expectation.b)):
        yield f"    {name}  {_side(side, with_expected=len(expected) > 1)}"


def _side(side: Measured | None, *, with_expected: bool) -> str:
    if side is None:
        return "not expected"
    return f"{_HOLDS[side.holds]:<4}  {side.measured}" + (f" (expected {side.expected})" if with_expected else "")


def _figure(figure: ComparedFigure) -> tuple[str, ...]:
    return (
        figure.arm,
        figure.name,
        _number(figure.a),
        _number(figure.b),
        "" if figure.ratio is None else f"{figure.ratio:g}",
    )


def _number(value: float | None) -> str:
    return "n/a" if value is None else f"{value:,}" if isinstance(value, int) else f"{value:g}"
