"""What the guard makes of the rounds of a race, and when it says that the engine has become slower."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.engine.guard import GuardLine, describe, has_grown, last_alike, read_lines, record, summarize
from benchmarks.engine.race import Outcome, stretch
from benchmarks.engine.usage import Usage
from devkit.errors import DevkitError

ON = date(2026, 11, 26)


def outcome(contestant: str, cpu_ms: dict[str, float], *, rate: float, errors: int = 0, sample: str = "a") -> Outcome:
    counts: dict[str, Any] = {"events": 1000, "outputs": 1000 - errors, "errors": errors}
    rates: dict[str, Any] = {"whole": rate, "appending": rate, "steady": rate}
    times: dict[str, Any] = {"first_output_s": 8.0, "cpu_ms": 0.0, "usage": Usage({}, 0.0)}
    steady_cpu_ms = {"broker": 0.2, "mock": 1.0} | cpu_ms
    return Outcome(contestant=contestant, **counts, **rates, **times, sample=sample, steady_cpu_ms=steady_cpu_ms)


def engine(workers: float = 1.5, *, errors: int = 0, sample: str = "a") -> Outcome:
    cpu_ms = {"engine: Python workers": workers, "engine: JVM": 0.3, "engine: Python": 0.2}
    return outcome("engine", cpu_ms, rate=500, errors=errors, sample=sample)


def peer(cpu_ms: float = 0.5, *, sample: str = "a") -> Outcome:
    return outcome("asyncio", {"asyncio: Python": cpu_ms}, rate=1000, sample=sample)


def line(engines: list[Outcome], peers: list[Outcome]) -> GuardLine:
    return summarize({"engine": engines, "asyncio": peers}, commit="abc", measured_on=ON, machine={"cores": 2})


def test_a_line_has_the_medians_of_the_rounds() -> None:
    assert line([engine(1.5), engine(9.5), engine(1.0)], [peer(0.5), peer(1.0), peer(0.5)]) == GuardLine(
        commit="abc",
        measured_on=ON,
        events=1000,
        rounds=3,
        own_ms={"workers": 1.5, "JVM": 0.3, "driver": 0.2},
        hand_written_ms=0.5,
        share=4.0,  # of 4, 10 and 3
        all_ms={"engine": 3.2, "asyncio": 1.7},
        rate_share=0.5,
        first_output_s=8.0,
        machine={"cores": 2},
    )


@pytest.mark.parametrize(
    ("engines", "peers", "message"),
    [
        ([engine(errors=3)], [peer()], "3 events ended as errors"),
        ([engine(sample="b")], [peer()], "the outputs differ"),
        ([engine(), engine(sample="b")], [peer(), peer(sample="b")], "the outputs differ"),
    ],
)
def test_rounds_of_other_work_are_no_line(engines: list[Outcome], peers: list[Outcome], message: str) -> None:
    with pytest.raises(DevkitError, match=message):
        line(engines, peers)


@pytest.mark.parametrize(
    ("own", "hand_written", "grown"),
    [
        pytest.param(2.0, 0.5, False, id="the same"),
        pytest.param(1.0, 0.5, False, id="faster"),
        pytest.param(2.2, 0.5, False, id="exactly 10 % more"),
        pytest.param(2.21, 0.5, True, id="over 10 % more"),
        pytest.param(4.0, 1.0, False, id="a machine of half the speed"),
        pytest.param(4.42, 1.0, True, id="a machine of half the speed, and over 10 % more"),
        pytest.param(2.0, 0.45, True, id="the hand-written program became faster"),
    ],
)
def test_says_when_the_share_has_grown(own: float, hand_written: float, *, grown: bool) -> None:
    last, now = line([engine()], [peer()]), line([engine(own - 0.5)], [peer(hand_written)])
    assert has_grown(now, last) is grown
    assert ("SLOWER: " in describe(now, last)) is grown
    assert ("ok: " in describe(now, last)) is not grown


def test_only_lines_of_the_same_kind_of_processor_are_compared() -> None:
    assert "there is no line of this kind of processor" in describe(line([engine()], [peer()]), None)
    first, second = line([engine()], [peer()]), line([engine(2.0)], [peer()])
    other = second.model_copy(update={"machine": {"cores": 2, "processor": "other"}})
    assert last_alike(first, [first, second, other]) == second
    assert last_alike(first, [other]) is None


def test_a_recorded_line_is_read_as_the_last(tmp_path: Path) -> None:
    path, lines = tmp_path / "guard.jsonl", [line([engine()], [peer()]), line([engine(2.0)], [peer()])]
    assert read_lines(path) == []
    for one in lines:
        record(one, path)
    assert read_lines(path) == lines
    assert read_lines()[0].commit == "f81a8bff", "the landed ones"


def test_the_steady_part_leaves_out_start_and_tail() -> None:
    times_ms = [*range(1_000), *[5_000] * 20]
    steady = stretch(times_ms, 0.10, 0.95)
    assert (steady.begin_ms, steady.end_ms) == (102, 968)
    assert steady.rate == 1_000


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=200))
def test_counts_the_records_within(times_ms: list[int]) -> None:
    times_ms.sort()
    steady = stretch(times_ms, 0.10, 0.95)
    assert steady.count == sum(steady.begin_ms < at <= steady.end_ms for at in times_ms)


def test_between_two_looks_in_proportion() -> None:
    usage = Usage({}, 0.0, [(10.0, {"mock": 1.0}), (20.0, {"mock": 3.0, "engine": 4.0})])
    assert usage.between(15.0, 20.0) == pytest.approx({"mock": 1.0, "engine": 2.0})
    assert usage.between(0.0, 99.0) == pytest.approx({"mock": 2.0, "engine": 4.0})
