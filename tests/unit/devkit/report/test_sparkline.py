import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from devkit.report.sparkline import ASCII, BLOCKS, bar, fitted, sparkline


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
def test_what_is_drawn(values: list[float], width: int, drawn: str) -> None:
    assert sparkline(values, width) == drawn


def test_without_unicode() -> None:
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


def test_text_that_fits_is_left_alone() -> None:
    assert fitted("fault 'große Seite' 2", 40) == "fault 'große Seite' 2"


@pytest.mark.parametrize(("text", "line"), [("abcdef", "abc~"), ("漢字漢字", "漢 ~"), ("\x1b[2Jabc", "?[2~")])
def test_text_that_does_not(text: str, line: str) -> None:
    assert fitted(text, 4) == line
