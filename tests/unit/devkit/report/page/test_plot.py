import json
import re
from collections.abc import Mapping
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.arm_record import ArmRecord, Span
from devkit.report.page.numbers import Unit
from devkit.report.page.panels import PANELS, Line, Panel
from devkit.report.page.plot import HEIGHT, PanelPlots, Plot, panel_plots, x_ticks
from devkit.report.page.series import Points, joined, known, rate, share, thinned
from devkit.report.run_record import RunRecord

DURATION_S = 44.0


Arms = Mapping[str, ArmRecord]
VALUES = st.lists(st.none() | st.floats(-1e6, 1e6), min_size=1, max_size=900)


@pytest.fixture(scope="module")
def arms(run: RunRecord) -> Arms:
    return run.arms


def panel(*lines: Line, unit: Unit = "requests") -> Panel:
    return Panel(title="A title", unit=unit, lines=lambda arm: list(lines))


def plotted(arms: Arms, panel: Panel) -> PanelPlots:
    plots = panel_plots(panel, arms, DURATION_S)
    assert plots is not None
    return plots


def drawn(arms: Arms, *lines: Line, unit: Unit = "requests") -> Plot:
    """The incident's plot of a panel of these lines."""
    return plotted(arms, panel(*lines, unit=unit)).plots[0]


def of(arms: Arms, title: str) -> PanelPlots:
    (found,) = [one for one in PANELS if one.title == title]
    return plotted(arms, found)


@pytest.mark.parametrize("title", [one.title for one in PANELS])
def test_every_panel_shows_both_arms_on_the_same_axes(arms: Arms, title: str) -> None:
    incident, fixed = of(arms, title).plots
    assert (incident.arm, fixed.arm) == ("incident", "fixed")
    assert (incident.x_ticks, incident.y_ticks) == (fixed.x_ticks, fixed.y_ticks)
    assert incident.summary != fixed.summary


@pytest.mark.parametrize("title", [one.title for one in PANELS])
def test_everything_drawn_is_within_the_plane(arms: Arms, title: str) -> None:
    for plot in of(arms, title).plots:
        for path in plot.paths:
            for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path.d):
                assert 0 <= float(x) <= 1000
                assert 0 <= float(y) <= HEIGHT
        for bar in plot.bars:
            assert bar.x + bar.width <= 100.3
            assert 0 <= bar.y <= bar.y + bar.height <= HEIGHT + 0.1
        for shade in plot.shades:
            assert 0 <= shade.x <= shade.x + shade.width <= 100.01
        assert all(0 <= end.y <= HEIGHT for end in plot.ends)


@pytest.mark.parametrize(
    "lines",
    [(), (Line("x", ()),), (Line("x", ((1.0, 0.0), (2.0, 0.0), (3.0, None))),)],
    ids=["no line", "no point", "only zeros"],
)
def test_without_data_there_is_no_panel(arms: Arms, lines: tuple[Line, ...]) -> None:
    assert panel_plots(panel(*lines), arms, DURATION_S) is None


def test_an_arm_without_data_says_so(arms: Arms) -> None:
    def lines(arm: ArmRecord) -> list[Line]:
        return [Line("x", ((1.0, 5.0),) if arm.arm == "fixed" else ())]

    found = plotted(arms, Panel(title="A title", unit="requests", lines=lines))
    assert [plot.summary for plot in found.plots] == ["nothing was measured", "x 5 throughout"]


def test_a_gap_breaks_the_line_and_a_lone_point_is_seen(arms: Arms) -> None:
    points = ((0.0, 1.0), (11.0, 2.0), (22.0, None), (33.0, 2.0), (44.0, None))
    (path,) = drawn(arms, Line("x", points)).paths
    assert path.d == "M0 59L250 6M750 6h.1"


def test_names_of_lines_do_not_cover_each_other(arms: Arms) -> None:
    lines = [Line(str(n), ((1.0, 9.0), (2.0, float(n % 2)))) for n in range(6)]
    ends = drawn(arms, *lines).ends
    assert {end.text for end in ends} == {line.label for line in lines}
    heights = sorted(end.y for end in ends)
    assert all(b - a >= 12.9 for a, b in pairwise(heights))


def test_a_line_by_itself_ends_with_its_value(arms: Arms) -> None:
    assert [end.text for end in of(arms, "Requests for each fetch").plots[1].ends] == ["1"]


class TestSummaries:
    def test_lowest_highest_and_last_in_words(self, arms: Arms) -> None:
        plot = drawn(arms, Line("a", ((1.0, 7.0), (2.5, 9.0), (3.0, 8.0))), Line("b", ((1.0, 4.0),)))
        assert plot.summary == "a 7 to 9 (at 2.5 s), last 8; b 4 throughout"
        assert plot.caption == "a up to 9 at 2.5 s, 8 at the end; b 4 throughout"

    def test_of_a_line_that_ends_at_its_highest(self, arms: Arms) -> None:
        assert drawn(arms, Line("a", ((1.0, 7.0), (2.0, 9.0)))).caption == "up to 9 at the end"

    def test_the_context_is_in_the_long_one_only(self, arms: Arms) -> None:
        plot = drawn(arms, Line("a", ((1.0, 7.0),)), Line("b", ((1.0, 8.0),), "context"))
        assert plot.caption == "a 7 throughout"
        assert "b 8" in plot.summary

    def test_of_offsets_and_lag(self, arms: Arms) -> None:
        incident, fixed = of(arms, "Committed offset and lag").plots
        assert fixed.caption.startswith("200 of 200 committed at the end; lag up to ")
        last = arms["incident"].samples[-1]
        assert incident.caption.startswith(f"{last.committed} of 200 committed at the end; ")
        assert incident.summary.endswith(f"last {last.source_end - last.committed}")

    def test_of_batches(self, arms: Arms) -> None:
        incident, fixed = of(arms, "Batch time").plots
        assert incident.summary == "1 written in 1.4 s, 2 never written, 1 of them replays"
        assert fixed.summary == "4 written in 1.4 s to 2.8 s"
        assert [bar.style for bar in incident.bars] == ["written", "unwritten", "unwritten"]


class TestShades:
    def test_a_windowed_fault_and_the_restarts(self, arms: Arms) -> None:
        plot = of(arms, "Load of the upstream").plots[0]
        assert {shade.kind for shade in plot.shades} == {"fault", "down"}
        assert [shade.title for shade in plot.shades if shade.kind == "fault"] == ["fault 'slow parsing', 6 to 10 s"]
        assert plot.restarts == (50.0, 86.364)

    def test_an_arm_without_restarts(self, arms: Arms) -> None:
        plot = of(arms, "Load of the upstream").plots[1]
        assert (plot.restarts, {shade.kind for shade in plot.shades}) == ((), {"fault"})


def test_the_pointer_reads_the_same_values(arms: Arms) -> None:
    data = json.loads(drawn(arms, Line("a", ((1.0, 0.123456), (2.0, None))), unit="seconds").data)
    assert data == {"unit": "seconds", "bars": False, "lines": [{"label": "a", "points": [[1.0, 0.1235], [2.0, None]]}]}


def test_a_long_run_is_thinned(arms: Arms) -> None:
    points = tuple((n / 1000, float(n % 7)) for n in range(40_000))
    (path,) = drawn(arms, Line("a", points)).paths
    assert 100 < len(re.findall("[ML]", path.d)) <= 400


def test_seconds_stand_with_the_last_tick() -> None:
    assert [(tick.at, tick.text, tick.anchor) for tick in x_ticks(40.0)] == [
        (0.0, "0", "start"),
        (25.0, "10", "middle"),
        (50.0, "20", "middle"),
        (75.0, "30", "middle"),
        (100.0, "40 s", "end"),
    ]


def spaced(values: list[float | None]) -> Points:
    return tuple((n * 0.5, value) for n, value in enumerate(values))


class TestThinned:
    @given(VALUES, st.integers(5, 400))
    def test_it_is_short_enough_and_in_order(self, values: list[float | None], most: int) -> None:
        points = spaced(values)
        kept = thinned(points, most)
        assert len(kept) <= most or kept == points
        assert all(a[0] < b[0] for a, b in pairwise(kept))
        assert set(kept) <= set(points)

    @given(VALUES, st.integers(5, 50))
    def test_ends_and_extremes_stay(self, values: list[float | None], most: int) -> None:
        points = spaced(values)
        kept = thinned(points, most)
        assert (kept[0], kept[-1]) == (points[0], points[-1])
        if known(points):
            for extreme in (min, max):
                assert extreme(value for _, value in known(kept)) == extreme(value for _, value in known(points))

    def test_a_short_series_is_left_alone(self) -> None:
        points = spaced([1, None, 3])
        assert thinned(points) == points

    def test_a_gap_stays_one(self) -> None:
        assert any(value is None for _, value in thinned(spaced([*range(600), None, *range(600)]), 40))

    def test_too_few_points_are_refused(self) -> None:
        with pytest.raises(ValueError, match="4 points cannot show a series"):
            thinned(spaced([1] * 9), 4)


class TestRate:
    def test_of_a_steady_counter(self) -> None:
        assert {value for _, value in rate([(n * 0.5, n * 5.0) for n in range(20)])} == {10.0}

    def test_a_burst_is_spread_over_the_window(self) -> None:
        counter = [(n * 0.5, 48.0 if n >= 10 else 0.0) for n in range(20)]
        found = dict(rate(counter, 2.0))
        assert (found[4.5], found[5.0], found[6.5], found[7.0]) == (0.0, 24.0, 24.0, 0.0)

    def test_a_counter_that_begins_anew_is_no_negative_rate(self) -> None:
        assert [value for _, value in rate([(0, 100), (1, 110), (2, 5)], 0.5)] == [10.0, 0.0]

    @pytest.mark.parametrize("counter", [[], [(0.0, 5.0)], [(0.0, 5.0), (0.0, 9.0)]])
    def test_where_no_time_passed_there_is_none(self, counter: list[tuple[float, float]]) -> None:
        assert rate(counter) == ()

    @given(st.lists(st.tuples(st.floats(0.01, 5), st.integers(0, 100)), min_size=2, max_size=60))
    def test_it_never_exceeds_the_fastest_step(self, steps: list[tuple[float, int]]) -> None:
        at_s, count, counter = 0.0, 0, [(0.0, 0.0)]
        for step_s, more in steps:
            at_s, count = at_s + step_s, count + more
            counter.append((at_s, float(count)))
        fastest = max((b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(counter))
        assert all(value is not None and -1e-9 <= value <= fastest * (1 + 1e-6) for _, value in rate(counter))


def test_a_share_is_of_what_was_added_in_the_window() -> None:
    found = share([0, 1, 2, 2, 2], [0, 2, 4, 8, 8], [0, 1, 2, 3, 5], 1.0)
    assert found == ((1, 0.5), (2, 0.5), (3, 0.0), (5, None))


LENGTHS = st.lists(st.tuples(st.floats(0.1, 9), st.floats(0, 9)), max_size=200)


def laid_out(lengths: list[tuple[float, float]]) -> list[Span]:
    """Spans by their gap before and their length."""
    spans: list[Span] = []
    at_s = 0.0
    for number, (gap_s, length_s) in enumerate(lengths):
        spans.append(Span(at_s + gap_s, at_s + gap_s + length_s, f"{number}"))
        at_s = spans[-1].end_s
    return spans


@given(LENGTHS, st.integers(1, 30))
def test_few_spans_cover_all(lengths: list[tuple[float, float]], most: int) -> None:
    spans = laid_out(lengths)
    merged = joined(spans, most)
    assert len(merged) == min(len(spans), most)
    assert all(any(cover.begin_s <= span.begin_s and span.end_s <= cover.end_s for cover in merged) for span in spans)
    assert all(a.end_s < b.begin_s for a, b in pairwise(merged))


def test_the_widest_gap_stays() -> None:
    spans = laid_out([(0.5, 1), (1, 1), (5, 1), (1, 1)])
    assert joined(spans, 2) == (Span(0.5, 3.5, "0"), Span(8.5, 11.5, "2"))
