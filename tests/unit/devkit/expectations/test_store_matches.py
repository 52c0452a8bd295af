"""What the store has at the arm's end, and what it was asked about before."""

from typing import Any

import pytest

from devkit.expectations import Expectation, Finding
from devkit.observe.samples.metrics import Scraped, Series
from devkit.observe.store_difference import EntityDifference, StoreDifference
from tests.unit.devkit.observed import A_SAMPLE, a_program, an_observation

SAME = StoreDifference(40, (), 3)
TWO = StoreDifference(40, (EntityDifference("Q1", 2, 0), EntityDifference("Q7", 0, 31)), 0)
FIVE = StoreDifference(40, tuple(EntityDifference(f"Q{number}", 1, 1) for number in range(1, 6)), 0)
SAME_TEXT = "0 of 40 entities differ, 3 orphaned triples"
TWO_TEXT = "2 of 40 entities differ: Q1 (2 missing), Q7 (31 unexpected)"
FIVE_TEXT = (
    "5 of 40 entities differ: Q1 (1 missing, 1 unexpected), Q2 (1 missing, 1 unexpected), "
    "Q3 (1 missing, 1 unexpected) and 2 more"
)


def judge(name: str, argument: Any, **changes: Any) -> Finding:
    return Expectation.model_validate({name: argument}).judge(an_observation(**changes))


@pytest.mark.parametrize(
    ("argument", "store", "measured", "holds"),
    [
        (True, SAME, SAME_TEXT, True),
        (False, SAME, SAME_TEXT, False),
        (True, TWO, TWO_TEXT, False),
        (False, TWO, TWO_TEXT, True),
        (True, FIVE, FIVE_TEXT, False),
        (True, StoreDifference(0, (), 0), "0 of 0 entities differ", None),
        (True, None, "n/a: no program applies the output of a job with a known truth", None),
    ],
)
def test_store_matches(argument: bool, store: StoreDifference | None, measured: str, holds: bool | None) -> None:
    finding = judge("store_matches", argument, store=store)
    assert (finding.measured, finding.holds) == (measured, holds)


@pytest.mark.parametrize(("bound", "holds"), [({"at_least": 2}, True), ({"at_least": 3}, False), (2, True), (0, False)])
def test_differing_entities_are_counted(bound: Any, holds: bool) -> None:
    finding = judge("differing_entities", bound, store=TWO)
    assert (finding.measured, finding.holds) == (TWO_TEXT, holds)


@pytest.mark.parametrize("store", [None, StoreDifference(0, (), 0)])
def test_where_no_entity_was_compared_none_is_counted(store: StoreDifference | None) -> None:
    finding = judge("differing_entities", {"at_most": 0}, store=store)
    assert (finding.measured[:4], finding.holds) == ("n/a:", None)


def pages(**values: float) -> Scraped:
    highest: dict[Series, float] = {
        (f"enrichment_apply_{name.partition('_')[0]}_triples_total", frozenset({("kind", name)})): value
        for name, value in values.items()
    }
    return Scraped(1, frozenset(highest), highest)


@pytest.mark.parametrize(
    ("page", "measured", "holds"),
    [
        (pages(probed=200, diverging_missing=1, diverging_unexpected=1), "1%", True),
        (pages(probed=200, diverging_missing=3), "1.5%", False),
        (pages(probed=200), "0%", True),
        (pages(probed=0), "n/a: the store was asked about no triple; set `apply.count: probe`", None),
    ],
)
def test_divergence_is_that_of_the_program_that_probes(page: Scraped, measured: str, holds: bool | None) -> None:
    programs = (a_program("resolve"), a_program("apply", metrics=page))
    finding = judge("divergence", {"at_most": "1%"}, programs=programs)
    assert (finding.measured, finding.holds) == (measured, holds)


@pytest.mark.parametrize(
    ("argument", "measured", "holds"),
    [
        ({"program": "apply", "of": "highest", "at_least": 90}, "90 (of 2 looks)", True),
        ({"program": "apply", "at_most": 0}, "5 (of 2 looks)", False),
        ({"program": "resolve", "at_most": 0}, "n/a: no look showed how far resolve had come", None),
    ],
)
def test_the_lag_of_a_program_is_what_it_has_not_applied(argument: Any, measured: str, holds: bool | None) -> None:
    samples = tuple(
        A_SAMPLE.model_copy(update={"at_s": at_s, "waiting": waiting})
        for at_s, waiting in ((1.0, {}), (2.0, {"apply": 90}), (3.0, {"apply": 5}))
    )
    programs = (a_program("resolve"), a_program("apply", not_observable=frozenset({"offsets"})))
    finding = judge("lag", argument, samples=samples, programs=programs)
    assert (finding.measured, finding.holds) == (measured, holds)


@pytest.mark.parametrize(("program", "value"), [({"program": "apply"}, "7"), ({}, "2")])
def test_a_metric_is_that_of_the_program_that_is_named(program: dict[str, str], value: str) -> None:
    def page(shown: float) -> Scraped:
        series: Series = ("up", frozenset())
        return Scraped(1, frozenset({series}), {series: shown}, courses={series: ((1.0, shown),)})

    programs = (a_program("resolve", metrics=page(2)), a_program("apply", metrics=page(7)))
    finding = judge("metric", {**program, "name": "up", "at_least": 1}, programs=programs)
    assert finding.measured == f"{value} (of 1 look)"
