"""What a dashboard would get: labels, values, series that have gone, and arms of which no page was read."""

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.expectations import Expectation, Finding
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraped, Series
from tests.unit.devkit.observed import an_observation

LAG_0: Series = ("lag", frozenset({("partition", "0"), ("topic", "t")}))
LAG_1: Series = ("lag", frozenset({("partition", "1"), ("topic", "t")}))
EVENTS: Series = ("events_total", frozenset())


def judge(name: str, argument: dict[str, Any], scraped: Scraped) -> Finding:
    return Expectation.model_validate({name: argument}).judge(an_observation(metrics=scraped))


def scraped(*series: Series, value: float = 1.0, gone: tuple[Series, ...] = ()) -> Scraped:
    return Scraped(4, frozenset(series), dict.fromkeys((*series, *gone), value))


@pytest.mark.parametrize(
    ("labels", "holds"),
    [
        ({}, True),
        ({"partition": "1"}, True),
        ({"partition": "1", "topic": "t"}, True),
        ({"partition": "2"}, False),
        ({"partition": "1", "lane": "main"}, False),
    ],
)
def test_the_labels_that_are_given_have_those_values(labels: dict[str, str], holds: bool) -> None:
    page = scraped(LAG_0, LAG_1)
    assert judge("metric_exists", {"name": "lag", "labels": labels}, page).holds is holds
    assert judge("metric_missing", {"name": "lag", "labels": labels}, page).holds is not holds


def test_what_there_is_instead_is_told() -> None:
    wanted = {"name": "lag", "labels": {"partition": "7"}}
    finding = judge("metric_exists", wanted, scraped(LAG_0, LAG_1))
    assert finding.expected == 'lag{partition="7"}'
    assert finding.measured == (
        'not on any of 4 pages; there is lag{partition="0", topic="t"}, lag{partition="1", topic="t"}'
    )


def test_above_is_more_than() -> None:
    page = Scraped(1, frozenset({LAG_0, LAG_1}), {LAG_0: 2.0, LAG_1: 0.0})
    assert judge("metric_exists", {"name": "lag", "above": 1.9}, page).holds is True
    assert judge("metric_exists", {"name": "lag", "above": 2}, page) == Finding(
        "metric_exists",
        "lag above 2",
        'lag{partition="0", topic="t"} and 1 more, at most 2 on 1 page',
        holds=False,
        figures=(BoundedFigure(value=2, at_least=2),),
    )
    assert judge("metric_exists", {"name": "lag", "labels": {"partition": "1"}, "above": 1}, page).holds is False


def test_a_series_that_never_was_a_number_exists_and_is_above_nothing() -> None:
    page = Scraped(1, frozenset({EVENTS}), {EVENTS: -math.inf})
    assert judge("metric_exists", {"name": "events_total"}, page).holds is True
    assert judge("metric_exists", {"name": "events_total", "above": -1}, page).holds is False


def test_what_was_there_and_has_gone_has_vanished() -> None:
    page = scraped(EVENTS, gone=(LAG_0,))
    finding = judge("metric_exists", {"name": "lag"}, page)
    text = 'lag{partition="0", topic="t"}, at most 1 on 4 pages, and gone from the last'
    assert (finding.holds, finding.measured) == (False, text)
    assert judge("metric_missing", {"name": "lag"}, page).holds is False


@pytest.mark.parametrize("name", ["metric_exists", "metric_missing"])
@pytest.mark.parametrize(
    ("page", "why"),
    [(NOTHING_SCRAPED, "the pipeline said of none"), (Scraped(failed="ConnectionError: refused"), "ConnectionError")],
)
def test_without_a_page_nobody_can_tell(name: str, page: Scraped, why: str) -> None:
    finding = judge(name, {"name": "lag"}, page)
    assert finding.holds is None
    assert finding.measured.startswith("n/a: no page of metrics was read")
    assert why in finding.measured


NAMES = st.sampled_from(["a", "b", "c"])
SERIES = st.tuples(NAMES, st.frozensets(st.tuples(st.sampled_from(["x", "y"]), NAMES), max_size=2))


@given(st.frozensets(SERIES, max_size=5), st.frozensets(SERIES, max_size=5), NAMES)
def test_a_metric_never_both_exists_and_is_missing(
    standing: frozenset[Series], gone: frozenset[Series], name: str
) -> None:
    page = Scraped(1, standing, dict.fromkeys(standing | gone, 0.0))
    exists, missing = (judge(check, {"name": name}, page).holds for check in ("metric_exists", "metric_missing"))
    assert not (exists and missing)
    assert exists or missing or name in {series[0] for series in gone}
