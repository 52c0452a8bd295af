import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.report.page.short_names import short_names


@pytest.mark.parametrize(
    ("names", "short"),
    [
        (["mediawiki.page_change.v1", "silent.page_change.v1"], ["mediawiki", "silent"]),
        (["codfw.mediawiki.page_change.v1", "eqiad.mediawiki.page_change.v1"], ["codfw", "eqiad"]),
        (["mediawiki.page_change.v1", "mediawiki.page_links_change.v1"], ["page_change", "page_links_…"]),
        (["a.page_change.v1", "page_change.v1"], ["a.page_change", "page_change"]),
        (["page_change/0", "page_change/1"], ["0", "1"]),
        (["topic/0"], ["topic.0"]),
        (["events", "links"], ["events", "links"]),
        ([], []),
    ],
)
def test_what_all_have_in_common_is_left_out(names: list[str], short: list[str]) -> None:
    assert short_names(names) == [one if len(one) <= 12 else f"{one[:11]}…" for one in short]


@given(st.lists(st.text("ab./", min_size=1, max_size=6), unique=True))
def test_none_is_lost_and_each_fits(names: list[str]) -> None:
    found = short_names(names)
    assert len(found) == len(names)
    assert all(len(one) <= 12 for one in found)
