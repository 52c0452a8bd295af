from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from devkit.report.arm_record import Span
from devkit.report.page.spans import joined

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
    found = joined(spans, most)
    assert len(found) == min(len(spans), most)
    assert all(any(one.begin_s <= span.begin_s and span.end_s <= one.end_s for one in found) for span in spans)
    assert all(a.end_s < b.begin_s for a, b in pairwise(found))


def test_the_widest_gap_stays() -> None:
    spans = laid_out([(0.5, 1), (1, 1), (5, 1), (1, 1)])
    assert joined(spans, 2) == (Span(0.5, 3.5, "0"), Span(8.5, 11.5, "2"))
