"""Numbers of what was looked at again and again: by part of the arm, undecided without looks."""

from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from devkit.expectations import Expectation, Finding
from devkit.headroom.stretched_model import stretched
from devkit.observe.arm_observation import ArmObservation, Phase
from devkit.observe.latency import EventLatency, Latencies
from devkit.observe.samples.metrics import Scraped, Series
from devkit.observe.samples.sample import ProgramUse, Sample
from tests.unit.devkit.observed import A_SAMPLE, an_observation

MIB = 1 << 20
READS: Series = ("reads_total", frozenset({("partition", "0")}))
MORE_READS: Series = ("reads_total", frozenset({("partition", "1")}))


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
