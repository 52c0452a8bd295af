import json
import re
from collections.abc import Mapping
from itertools import pairwise

import pytest

from devkit.report.arm_record import ArmRecord
from devkit.report.page.numbers import Unit
from devkit.report.page.panels import PANELS, Line, Panel
from devkit.report.page.plot import HEIGHT, PanelPlots, Plot, panel_plots, x_ticks
from devkit.report.run_record import RunRecord

DURATION_S = 44.0


Arms = Mapping[str, ArmRecord]


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
