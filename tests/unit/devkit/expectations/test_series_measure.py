"""Numbers of what was looked at again and again, and metrics as a dashboard would get them."""

import math
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.expectations import Expectation, Finding
from devkit.headroom.stretched_model import stretched
from devkit.observe.arm_observation import ArmObservation, Phase
from devkit.observe.bounded_figure import BoundedFigure
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.samples.metrics import NOTHING_SCRAPED, Scraped, Series
from devkit.observe.samples.sample import ProgramUse, Sample
from tests.unit.devkit.observed import A_SAMPLE, an_observation

MIB = 1 << 20
READS: Series = ("reads_total", frozenset({("partition", "0")}))
MORE_READS: Series = ("reads_total", frozenset({("partition", "1")}))
LAG_0: Series = ("lag", frozenset({("partition", "0"), ("topic", "t")}))
LAG_1: Series = ("lag", frozenset({("partition", "1"), ("topic", "t")}))
EVENTS: Series = ("events_total", frozenset())


def a_look(n: int) -> Sample:
    """Every second: a worker that grows by 2 MiB, and a lag that grows in one of two partitions."""
    held = {"JVM": 500 * MIB, "Python worker": (100 + 2 * n) * MIB}
    beside = ProgramUse(processes=1, memory_bytes=(7 + n) * MIB)
    return A_SAMPLE.model_copy(
        update={
            "at_s": float(n),
            "committed": 10,
            "source_end": 10 + 5 * n,
            "lags": {"t/0": 5 * n, "t/1": 0},
            "memory_bytes": sum(held.values()),
            "memory_kinds": held,
            "programs": {"reader": beside},
        }
    )


LOOKS = tuple(a_look(n) for n in range(11))
OBSERVED = an_observation(
    samples=LOOKS,
    phases={"broker cut": Phase(3, 6), "for ever": Phase(8, None)},
    metrics=Scraped(
        11,
        frozenset({READS, MORE_READS}),
        {READS: 10.0, MORE_READS: 20.0},
        courses={READS: tuple((n, n) for n in range(11)), MORE_READS: tuple((n, 2 * n) for n in range(11))},
    ),
    pages={"Hot page": ("enwiki", 7)},
    began_ms=1_000_000,
    latencies=Latencies(
        (
            EventLatency(("enwiki", 7), 1_001_000, 4.0, is_emitted=True),
            EventLatency(("enwiki", 7), 1_002_000, 9.0, is_emitted=False),
            EventLatency(("enwiki", 8), 1_001_000, 9.0, is_emitted=False),
        )
    ),
)


def judge(name: str, argument: dict[str, Any], observed: ArmObservation = OBSERVED) -> Finding:
    return Expectation.model_validate({name: argument}).judge(observed)


@pytest.mark.parametrize(
    ("name", "argument", "measured", "holds"),
    [
        ("memory", {"kind": "Python worker", "of": "slope", "at_least": "100MiB"}, "120.0MiB (of 11 looks)", True),
        ("memory", {"kind": "JVM", "of": "slope", "at_least": "1MiB"}, "0.0MiB (of 11 looks)", False),
        ("memory", {"at_most": "620MiB"}, "620.0MiB (of 11 looks)", True),
        ("memory", {"at_most": "619MiB"}, "620.0MiB (of 11 looks)", False),
        ("memory", {"of": "last", "during": "broker cut", "at_most": "612MiB"}, "612.0MiB (of 4 looks)", True),
        ("memory", {"of": "lowest", "after": "broker cut", "at_least": "612MiB"}, "612.0MiB (of 5 looks)", True),
        ("memory", {"of": "lowest", "during": "for ever", "at_least": "616MiB"}, "616.0MiB (of 3 looks)", True),
        ("lag", {"at_least": 50}, "50 (of 11 looks)", True),
        ("lag", {"partition": 0, "of": "highest", "at_least": 51}, "50 (of 11 looks)", False),
        ("lag", {"partition": 1, "of": "highest", "at_most": 0}, "0 (of 11 looks)", True),
        ("lag", {"partition": 0, "topic": "t", "of": "slope", "at_least": 299}, "300 (of 11 looks)", True),
        ("lag", {"page": "Hot_page", "of": "highest", "at_least": 2}, "2 (of 11 looks)", True),
        ("lag", {"page": "Hot page", "at_most": 0}, "1 (of 11 looks)", False),
        ("metric", {"name": "reads_total", "of": "slope", "at_least": 179}, "180 (of 11 looks)", True),
        ("metric", {"name": "reads_total", "labels": {"partition": "0"}, "at_most": 9}, "10 (of 11 looks)", False),
        ("metric", {"name": "reads_total", "of": "mean", "at_most": 15}, "15 (of 11 looks)", True),
    ],
)
def test_a_number_of_the_looks(name: str, argument: dict[str, Any], measured: str, holds: bool) -> None:
    finding = judge(name, argument)
    assert (finding.measured, finding.holds) == (measured, holds)


@pytest.mark.parametrize(
    ("name", "argument", "why"),
    [
        ("memory", {"kind": "driver", "at_most": "1GiB"}, "it was not looked at"),
        ("memory", {"during": "brokr", "at_most": "1GiB"}, "'brokr' never began"),
        ("memory", {"after": "for ever", "at_most": "1GiB"}, "'for ever' had not ended by the arm's end"),
        (
            "lag",
            {"during": "broker cut", "of": "slope", "at_most": 1},
            "4 looks are too few for a slope, which needs 5",
        ),
        ("lag", {"partition": 7, "at_most": 1}, "it was not looked at"),
        ("lag", {"page": "Cold", "at_most": 1}, "it was not looked at"),
        ("metric", {"name": "writes_total", "at_most": 1}, "it was not looked at"),
    ],
)
def test_no_look_decides_nothing(name: str, argument: dict[str, Any], why: str) -> None:
    finding = judge(name, argument)
    assert (finding.measured, finding.holds) == (f"n/a: {why}", None)


def test_of_an_arm_without_looks_nothing_is_known() -> None:
    for name, argument in (
        ("lag", {"at_most": 9}),
        ("memory", {"at_most": "9GiB"}),
        ("metric", {"name": "a", "at_most": 9}),
    ):
        assert judge(name, argument, an_observation()).holds is None


def test_a_lag_needs_what_it_is_counted_by() -> None:
    of_offsets = replace(OBSERVED, not_observable=frozenset({"offsets"}))
    assert judge("lag", {"at_least": 50}, of_offsets).holds is None
    assert judge("lag", {"page": "Hot page", "at_least": 1}, of_offsets).holds is True
    of_sources = replace(OBSERVED, not_observable=frozenset({"sources"}))
    assert judge("lag", {"page": "Hot page", "at_least": 1}, of_sources).holds is None


def test_a_program_is_named() -> None:
    expectation = Expectation.model_validate({"memory": {"program": "reader", "of": "last", "at_most": "17MiB"}})
    assert expectation.program == "reader"
    assert expectation.judge(OBSERVED).measured == "17.0MiB (of 11 looks)"


def test_in_a_stretched_run_a_minute_brings_less() -> None:
    sloped = Expectation.model_validate({"memory": {"of": "slope", "at_least": "30MiB"}})
    assert stretched(sloped, 3).argument.at_least == 10 * MIB
    assert str(stretched(sloped, 7).argument) == "slope a minute at least 4493897B"
    level = Expectation.model_validate({"memory": {"at_least": "30MiB"}})
    assert stretched(level, 3).argument.at_least == 30 * MIB


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("memory", {"of": "slope"}, "write at_least, at_most"),
        ("lag", {"at_most": 1, "during": "a", "after": "b"}, "one of during and after, not both"),
        ("lag", {"at_most": 1, "page": "a", "partition": 1}, "one of page and partition, not both"),
        ("lag", {"at_most": 1, "topic": "a"}, "write partition as well"),
        ("memory", {"at_most": "1GiB", "kind": "worker"}, "Input should be"),
    ],
)
def test_refused(name: str, argument: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        Expectation.model_validate({name: argument})


def judge_page(name: str, argument: dict[str, Any], scraped: Scraped) -> Finding:
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
    assert judge_page("metric_exists", {"name": "lag", "labels": labels}, page).holds is holds
    assert judge_page("metric_missing", {"name": "lag", "labels": labels}, page).holds is not holds


def test_what_there_is_instead_is_told() -> None:
    wanted = {"name": "lag", "labels": {"partition": "7"}}
    finding = judge_page("metric_exists", wanted, scraped(LAG_0, LAG_1))
    assert finding.expected == 'lag{partition="7"}'
    assert finding.measured == (
        'not on any of 4 pages; there is lag{partition="0", topic="t"}, lag{partition="1", topic="t"}'
    )


def test_above_is_more_than() -> None:
    page = Scraped(1, frozenset({LAG_0, LAG_1}), {LAG_0: 2.0, LAG_1: 0.0})
    assert judge_page("metric_exists", {"name": "lag", "above": 1.9}, page).holds is True
    assert judge_page("metric_exists", {"name": "lag", "above": 2}, page) == Finding(
        "metric_exists",
        "lag above 2",
        'lag{partition="0", topic="t"} and 1 more, at most 2 on 1 page',
        holds=False,
        figures=(BoundedFigure(value=2, at_least=2),),
    )
    assert judge_page("metric_exists", {"name": "lag", "labels": {"partition": "1"}, "above": 1}, page).holds is False


def test_a_series_that_never_was_a_number_exists_and_is_above_nothing() -> None:
    page = Scraped(1, frozenset({EVENTS}), {EVENTS: -math.inf})
    assert judge_page("metric_exists", {"name": "events_total"}, page).holds is True
    assert judge_page("metric_exists", {"name": "events_total", "above": -1}, page).holds is False


def test_what_was_there_and_has_gone_has_vanished() -> None:
    page = scraped(EVENTS, gone=(LAG_0,))
    finding = judge_page("metric_exists", {"name": "lag"}, page)
    text = 'lag{partition="0", topic="t"}, at most 1 on 4 pages, and gone from the last'
    assert (finding.holds, finding.measured) == (False, text)
    assert judge_page("metric_missing", {"name": "lag"}, page).holds is False


@pytest.mark.parametrize("name", ["metric_exists", "metric_missing"])
@pytest.mark.parametrize(
    ("page", "why"),
    [(NOTHING_SCRAPED, "the pipeline said of none"), (Scraped(failed="ConnectionError: refused"), "ConnectionError")],
)
def test_without_a_page_nobody_can_tell(name: str, page: Scraped, why: str) -> None:
    finding = judge_page(name, {"name": "lag"}, page)
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
    exists, missing = (judge_page(check, {"name": name}, page).holds for check in ("metric_exists", "metric_missing"))
    assert not (exists and missing)
    assert exists or missing or name in {series[0] for series in gone}
