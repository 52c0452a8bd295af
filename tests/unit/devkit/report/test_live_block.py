import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from devkit.observe.samples.sample import Sample
from devkit.report.live_block import ASCII, BLOCKS, ArmView, Mark, bar, block_lines, fitted, marks, sparkline

SAMPLE = Sample(at_s=0.5, committed=0, source_end=0, outputs=0, errors=0, requests=0, in_flight=0)


@pytest.fixture
def view() -> ArmView:
    view = ArmView("incident", phase="pipeline: running, from checkpoint", restarts=1)
    for n in range(1, 9):
        counted = {"at_s": n * 0.5, "committed": 25 * (n // 2), "source_end": 20 * n, "outputs": 24 * (n // 2)}
        faults = {"huge page": n // 4, "slow page": 0}
        view.add(SAMPLE.model_copy(update=counted | {"requests": 30 * n, "faults": faults}))
    return view


def test_what_it_shows(view: ArmView) -> None:
    assert block_lines(view, 78) == [
        f"{'incident  pipeline: running, from checkpoint':<73}4.0 s",
        "committed █████████████████████░░░░░░░░░░░░░  100/160",
        "lag       ▃▃▅▄▆▆█▇".ljust(44) + "  60",
        "out       █▁█▁█▁█".ljust(44) + "  96, 48/s, errors 0",
        "requests  ███████".ljust(44) + "  240, 60/s, open 0",
        "restarts 1 · fault 'huge page' 2, now",
    ]


def test_commits_that_are_not_observable_are_not_drawn(view: ArmView) -> None:
    view.shows_offsets = False
    assert block_lines(view, 78)[1:3] == ["committed".ljust(44) + "  n/a, published 160", "lag".ljust(44) + "  n/a"]


UPSTREAM = {"at_s": 4.5, "queued": 40, "parses": 10, "abandoned": 5, "deferred": 3}


@pytest.mark.parametrize(
    ("changes", "row", "drawn"),
    [
        ({}, -1, "restarts 1 · fault 'huge page' 2"),
        ({"read_again": 50}, -1, "restarts 1 · up to 50 repeats after replays · fault 'huge page' 2"),
        ({"at_s": 4.5, "waiting": {"apply": 181}}, 5, "apply     ▁▁▁▁▁▁▁▁█".ljust(44) + "  181 behind"),
        (UPSTREAM, 5, "queued    ▁▁▁▁▁▁▁▁█".ljust(44) + "  40, 50% abandoned"),
        (UPSTREAM, 6, "deferred  ▁▁▁▁▁▁▁▁█".ljust(44) + "  3"),
    ],
    ids=[
        "a fault whose count does not grow is not active",
        "repeats beside the restarts",
        "what waits for a program behind",
        "requests that are queued at the upstream",
        "events that are deferred",
    ],
)
def test_what_a_further_sample_shows(view: ArmView, changes: dict[str, object], row: int, drawn: str) -> None:
    view.add(view.samples[-1].model_copy(update=changes))
    assert block_lines(view, 78)[row] == drawn


@pytest.mark.parametrize("unicode", [True, False])
@pytest.mark.parametrize("width", range(1, 120, 7))
def test_no_line_is_wider_than_asked(view: ArmView, width: int, unicode: bool) -> None:
    view.phase = "pipeline: 漢字 " + "query failed " * 20
    lines = block_lines(view, width, unicode=unicode)
    assert max(cell_len(line) for line in lines) <= width


def test_without_unicode_it_is_ascii(view: ArmView) -> None:
    view.phase = "größer"
    assert all(line.isascii() for line in block_lines(view, 78, unicode=False))


def test_before_the_first_sample_there_is_the_phase() -> None:
    assert block_lines(ArmView("fixed", phase="arm: topics"), 40) == ["fixed     arm: topics".ljust(40)]


def test_what_deserves_attention(view: ArmView) -> None:
    assert marks(view) == [
        Mark("incident", "arm"),
        Mark("restarts 1", "restart"),
        Mark("fault 'huge page' 2, now", "fault"),
    ]


@pytest.mark.parametrize(
    ("values", "width", "drawn"),
    [
        ([0, 1, 2, 4, 8], 8, "▁▂▃▅█"),
        ([8, 0, 1], 2, "▁█"),
        ([0, 0], 9, "▁▁"),
        ([1000, 1], 9, "█▂"),
        ([-3, 2], 9, "▁█"),
        ([], 9, ""),
        ([1, 2], 0, ""),
    ],
)
def test_a_sparkline(values: list[float], width: int, drawn: str) -> None:
    assert sparkline(values, width) == drawn


def test_a_sparkline_without_unicode() -> None:
    assert sparkline([0, 4, 8], 9, ASCII) == "_+#"
    assert len(ASCII) == len(BLOCKS)


@pytest.mark.parametrize(
    ("share", "drawn"), [(0, "░░░░"), (0.5, "██░░"), (0.99, "███░"), (1, "████"), (2, "████"), (-1, "░░░░")]
)
def test_a_bar_is_full_only_at_the_end(share: float, drawn: str) -> None:
    assert bar(share, 4) == drawn


@given(st.text(), st.integers(0, 30))
def test_fitted_text_fits_and_is_safe(text: str, width: int) -> None:
    line = fitted(text, width)
    assert cell_len(line) <= width
    assert line.isprintable()


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [("große Seite", 40, "große Seite"), ("abcdef", 4, "abc~"), ("漢字漢字", 4, "漢 ~"), ("\x1b[2Jabc", 4, "?[2~")],
)
def test_text_that_does_not_fit_is_cut(text: str, width: int, line: str) -> None:
    assert fitted(text, width) == line
