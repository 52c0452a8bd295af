"""The geometry of one panel in one arm, ready for the template.

Text must not shrink with the page, so a plot is three drawings side by side: the value axis, the plane, and the names
of the lines at their ends. In the plane x is in percent (or thousandths, in paths, which are stretched), y in pixels.
Both arms of a panel have the same axes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from devkit.report.arm_record import ArmRecord, Span
from devkit.report.page.axis import Scale, linear, logarithmic, time_ticks
from devkit.report.page.numbers import Unit, figure, moment, number, tick
from devkit.report.page.panels import Line, Panel
from devkit.report.page.series import Points, joined, known, thinned

HEIGHT = 112
WIDE = 1000
_TOP = 6
_LABEL_GAP = 13
_NEARLY_ALWAYS = 0.8


@dataclass(frozen=True)
class Tick:
    """`at` in pixels from the top, or in percent of the width."""

    at: float
    text: str
    anchor: str = "middle"


@dataclass(frozen=True)
class Path:
    """A line, as the `d` of an SVG path."""

    style: str
    d: str


@dataclass(frozen=True)
class Bar:
    """x and width in percent, y and height in pixels."""

    x: float
    width: float
    y: float
    height: float
    style: str


@dataclass(frozen=True)
class Shade:
    """A stretch of time behind the lines, in percent of the width. `what` was so, and `title` says also when."""

    x: float
    width: float
    kind: str
    what: str
    title: str


@dataclass(frozen=True)
class EndLabel:
    """The name of a line at its right end; y in pixels."""

    y: float
    text: str
    style: str


@dataclass(frozen=True)
class Plot:
    """`summary` says in words what the drawing shows, `caption` the gist; `data` is JSON for the pointer to read."""

    arm: str
    caption: str
    summary: str
    y_ticks: tuple[Tick, ...]
    x_ticks: tuple[Tick, ...]
    paths: tuple[Path, ...]
    bars: tuple[Bar, ...]
    shades: tuple[Shade, ...]
    restarts: tuple[float, ...]
    ends: tuple[EndLabel, ...]
    data: str


@dataclass(frozen=True)
class PanelPlots:
    """A panel with its plot for each arm; one without data has a caption alone."""

    title: str
    unit: Unit
    note: str
    plots: tuple[Plot, ...]


def drawn_panels(panels: Iterable[Panel], arms: Mapping[str, ArmRecord], duration_s: float) -> list[PanelPlots]:
    """Those that have something to show."""
    plots = (panel_plots(panel, arms, duration_s) for panel in panels)
    return [panel for panel in plots if panel is not None]


def panel_plots(panel: Panel, arms: Mapping[str, ArmRecord], duration_s: float) -> PanelPlots | None:
    """None where no arm has anything but zeros to show. `duration_s` is the length of the time axis."""
    lines = {name: [_thin(line) for line in panel.lines(arm)] for name, arm in arms.items()}
    values = [value for of_arm in lines.values() for line in of_arm for _, value in known(line.points)]
    if not any(values):
        return None
    is_whole = panel.unit in ("events", "requests", "entries", "parses")
    scale: Scale = logarithmic(values) if panel.logarithmic else linear(max(values), whole=is_whole)
    return PanelPlots(
        panel.title,
        panel.unit,
        panel.note,
        tuple(_plot(panel, arms[name], of_arm, scale, duration_s) for name, of_arm in lines.items()),
    )


def _thin(line: Line) -> Line:
    return Line(line.label, thinned(line.points), line.style)


def _plot(panel: Panel, arm: ArmRecord, lines: Sequence[Line], scale: Scale, duration_s: float) -> Plot:
    shown = [line for line in lines if known(line.points)]
    shades, restarts = _shades(arm, duration_s)
    paths = [Path(line.style, _path(line.points, scale, duration_s)) for line in reversed(shown)]
    if panel.filled and len(shown) > 1:
        paths.insert(0, Path("area", _area(shown[0].points, shown[1].points, scale, duration_s)))
    return Plot(
        arm=arm.arm,
        caption=_caption(panel, arm, shown),
        summary=_summary(panel, arm, shown),
        y_ticks=tuple(Tick(_y(scale, value), tick(value, panel.unit)) for value in scale.ticks),
        x_ticks=x_ticks(duration_s),
        paths=() if panel.bars else tuple(paths),
        bars=_bars(arm, shown, scale, duration_s) if panel.bars else (),
        shades=shades,
        restarts=restarts,
        ends=() if panel.bars else _ends(shown, scale, named=len(lines) > 1, unit=panel.unit),
        data=json.dumps(
            {
                "unit": panel.unit,
                "bars": panel.bars,
                "lines": [
                    {"label": line.label, "points": [[round(x, 2), _short(y)] for x, y in line.points]}
                    for line in shown
                ],
            },
            separators=(",", ":"),
        ),
    )


def x_ticks(duration_s: float) -> tuple[Tick, ...]:
    """Seconds under the plane; the unit stands with the last."""
    times = time_ticks(duration_s)
    return tuple(
        Tick(
            round(100 * time_s / duration_s, 3),
            f"{number(time_s)} s" if time_s == times[-1] else number(time_s),
            "start" if time_s == 0 else "end" if time_s > 0.97 * duration_s else "middle",
        )
        for time_s in times
    )


def percent(time_s: float, duration_s: float) -> float:
    """A time as a share of the duration, from 0 to 100."""
    return round(100 * min(1.0, max(0.0, time_s / duration_s)), 3)


def _y(scale: Scale, value: float) -> float:
    return round(_TOP + (HEIGHT - _TOP) * (1 - scale.at(value)), 1)


def _path(points: Points, scale: Scale, duration_s: float) -> str:
    """Lines between points, broken at gaps; a point by itself is drawn as a dot would be."""
    parts, pen_up = [], True
    for index, (time_s, value) in enumerate(points):
        if value is None:
            pen_up = True
            continue
        x, y = round(WIDE * time_s / duration_s, 1), _y(scale, value)
        alone = pen_up and (index + 1 == len(points) or points[index + 1][1] is None)
        parts.append(f"{'M' if pen_up else 'L'}{x:g} {y:g}" + ("h.1" if alone else ""))
        pen_up = False
    return "".join(parts)


def _area(lower: Points, upper: Points, scale: Scale, duration_s: float) -> str:
    corners = [*known(upper), *reversed(known(lower))]
    joined = "L".join(f"{round(WIDE * x / duration_s, 1):g} {_y(scale, y):g}" for x, y in corners)
    return f"M{joined}Z"


def _bars(arm: ArmRecord, lines: Sequence[Line], scale: Scale, duration_s: float) -> tuple[Bar, ...]:
    kept = {time_s for line in lines for time_s, _ in line.points}
    return tuple(
        Bar(
            percent(batch.begin_s, duration_s),
            max(0.2, percent(batch.end_s - batch.begin_s, duration_s)),
            y := _y(scale, batch.end_s - batch.begin_s),
            round(HEIGHT - y, 1),
            "written" if batch.written else "unwritten",
        )
        for batch in arm.batches
        if batch.begin_s in kept
    )


def _shades(arm: ArmRecord, duration_s: float) -> tuple[tuple[Shade, ...], tuple[float, ...]]:
    """Restarts, and faults unless they matched nearly all requests: what is everywhere marks nothing. Of a fault that
    never acted, when it could have.
    """
    shades = []
    busy_s = sum(span.end_s - span.begin_s for span in arm.requesting)
    for name, spans in arm.faults.items():
        if sum(span.end_s - span.begin_s for span in spans) < _NEARLY_ALWAYS * busy_s:
            shades += [_shade(span, "fault", f"fault {name!r}", duration_s) for span in joined(spans)]
    for name, windows in arm.switched.items():
        if not arm.faults.get(name):
            what = f"fault {name!r} was on, and never acted"
            shades += [_shade(window, "window", what, duration_s) for window in joined(windows)]
    downtimes = joined(arm.downtimes)
    shades += [_shade(span, "down", "no query was running", duration_s) for span in downtimes]
    return tuple(shades), tuple(percent(span.begin_s, duration_s) for span in downtimes)


def _shade(span: Span, kind: str, what: str, duration_s: float) -> Shade:
    x = percent(span.begin_s, duration_s)
    title = f"{what}, {moment(span.begin_s)} to {moment(span.end_s)} s"
    return Shade(x, round(percent(span.end_s, duration_s) - x, 3), kind, what, title)


def _ends(lines: Sequence[Line], scale: Scale, *, named: bool, unit: Unit) -> tuple[EndLabel, ...]:
    """Each line's name where the line ends, moved apart where lines end close together; a single one's last value."""
    wanted = sorted((_y(scale, known(line.points)[-1][1]), index) for index, line in enumerate(lines))
    placed: list[float] = []
    for y, _ in wanted:
        placed.append(max(y, placed[-1] + _LABEL_GAP if placed else _TOP))
    limit = float(HEIGHT)
    for index in reversed(range(len(placed))):
        placed[index] = min(placed[index], limit)
        limit = placed[index] - _LABEL_GAP
    return tuple(
        EndLabel(
            round(y, 1),
            lines[index].label if named else figure(known(lines[index].points)[-1][1], unit),
            lines[index].style,
        )
        for y, (_, index) in zip(placed, wanted, strict=True)
    )


def _caption(panel: Panel, arm: ArmRecord, lines: Sequence[Line]) -> str:
    """The highest and the last value of each line but the context; where both are the same, once."""
    if not lines or panel.bars:
        return _summary(panel, arm, lines)
    if panel.filled and not arm.shows_offsets:
        return f"{number(arm.samples[-1].source_end)} published; committed offsets could not be observed"
    if panel.filled:
        last = arm.samples[-1]
        lag = max(sample.lag for sample in arm.samples)
        return f"{number(last.committed)} of {number(last.source_end)} committed at the end; lag up to {number(lag)}"
    parts = []
    for line in lines:
        if line.style == "context":
            continue
        points = known(line.points)
        high, at_s = max((value, -time_s) for time_s, value in points)
        name = f"{line.label} " if len(lines) > 1 else ""
        ending = figure(points[-1][1], panel.unit)
        highest = figure(high, panel.unit)
        if all(figure(value, panel.unit) == ending for _, value in points):
            parts.append(f"{name}{ending} throughout")
        elif highest == ending:
            parts.append(f"{name}up to {highest} at the end")
        else:
            parts.append(f"{name}up to {highest} at {moment(-at_s)} s, {ending} at the end")
    return "; ".join(parts)


def _summary(panel: Panel, arm: ArmRecord, lines: Sequence[Line]) -> str:
    """Lowest, highest and last of each line, in words."""
    if not lines:
        return "nothing was measured"
    if panel.bars:
        return _batches_summary(arm)
    parts = []
    for line in lines:
        points = known(line.points)
        low, high = min(value for _, value in points), max(value for _, value in points)
        last = figure(points[-1][1], panel.unit)
        if low == high:
            parts.append(f"{line.label} {last} throughout")
        else:
            highest_at = next(time_s for time_s, value in points if value == high)
            parts.append(
                f"{line.label} {figure(low, panel.unit)} to {figure(high, panel.unit)}"
                f" (at {moment(highest_at)} s), last {last}"
            )
    if panel.filled and arm.shows_offsets:
        lags = [sample.lag for sample in arm.samples]
        parts.append(f"lag up to {number(max(lags))}, last {number(lags[-1])}")
    return "; ".join(parts)


def _batches_summary(arm: ArmRecord) -> str:
    written = [batch.end_s - batch.begin_s for batch in arm.batches if batch.written]
    open_ones = len(arm.batches) - len(written)
    parts = ["none was written"]
    if written:
        shortest, longest = figure(min(written), "seconds"), figure(max(written), "seconds")
        parts = [f"{len(written)} written in {shortest if shortest == longest else f'{shortest} to {longest}'}"]
    if open_ones:
        parts.append(f"{open_ones} never written")
    replays = sum(batch.replay for batch in arm.batches)
    if replays:
        parts.append(f"{replays} of them replays")
    return ", ".join(parts)


def _short(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.4g}")
