from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from devkit.headroom.stretched_model import stretched
from devkit.traffic.all_streams import generate_all
from devkit.traffic.capture.pacing import Arrivals
from devkit.traffic.model import DIRECTORY, TrafficSpec
from devkit.traffic.records import Traffic
from located_config.problem import problems
from tests.unit.devkit.traffic.capture.captures import capture_of

TIMES = st.lists(st.integers(0, 10**13), min_size=1, max_size=50)


@pytest.fixture(scope="module")
def directory(mixed: Traffic, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a capture `c.jsonl` of 1,200 events in a minute."""
    found = tmp_path_factory.mktemp("captures")
    capture_of(mixed, found / "c.jsonl", partitions=3)
    return found


def spec(directory: Path, **written: Any) -> TrafficSpec:
    return TrafficSpec.model_validate({"from": "c.jsonl", **written}, context={DIRECTORY: directory})


def wrong(directory: Path, **written: Any) -> list[str]:
    with pytest.raises(ValidationError) as caught:
        spec(directory, **written)
    return [str(one) for one in problems(caught.value, TrafficSpec, {"from": "c.jsonl", **written})]


def test_it_is_said_by_the_capture(directory: Path, mixed: Traffic) -> None:
    found = spec(directory)
    assert (found.event_count, found.seed) == (len(mixed.records), 0)
    assert abs(found.for_ - mixed.records[-1].at) < timedelta(milliseconds=2)
    assert found.last_event == found.for_
    assert found.wikis == {"enwiki": "en.wikipedia.org", "commonswiki": "commons.wikimedia.org"}
    assert len(found.titles) > 40


@pytest.mark.parametrize(
    ("rate", "seconds"), [("x1", 60), ("x2", 30), ("x0.5", 120), ("20/s", 60), ("60/s", 20), (" x 4", 15)]
)
def test_the_rate_says_how_long_it_takes(directory: Path, rate: str, seconds: float) -> None:
    assert spec(directory, rate=rate).for_.total_seconds() == pytest.approx(seconds, rel=0.01)


@pytest.mark.parametrize("rate", ["x2", "40/s"])
def test_it_can_be_stretched(directory: Path, rate: str) -> None:
    once = spec(directory, rate=rate)
    thrice = stretched(once, 3)
    assert thrice.for_ == once.for_ * 3
    assert thrice.rate == pytest.approx(once.rate / 3)
    first, second = generate_all(once).records, generate_all(thrice).records
    for one, slower in zip(first, second, strict=True):
        assert slower.value == one.value
        assert abs(slower.at - one.at * 3) < timedelta(milliseconds=1)


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ({"rate": "fast"}, "rate: not a rate (got 'fast'); write x2 for twice the pace of the capture, or a rate such"),
        ({"rate": "x0"}, "rate: not above 0 (got 'x0'); write x1"),
        ({"rate": "x" + "9" * 400}, "rate: too slow or too fast a pace to be played"),
        ({"rate": "x0.00000000000000001"}, "rate: too slow or too fast a pace to be played"),
        ({"rate": 2}, "rate: not a rate (got 2); write x2"),
        ({"for": "10s"}, "for: says nothing where traffic is played from a capture (got '10s'); leave it out"),
        ({"pages": {"A": {}}}, "pages: says nothing where traffic is played from a capture; leave it out"),
        ({"from": "none.jsonl"}, "from: the capture "),
        ({"from": 5}, "from: must be the path of a capture (got 5); `devkit capture` makes one"),
        ({"from": ""}, "from: must be the path of a capture"),
        ({"wikis": {"A": "b"}}, "wikis."),
        ({"seed": -1}, "seed: "),
    ],
)
def test_what_is_wrong_is_told_with_its_place(directory: Path, written: dict[str, Any], problem: str) -> None:
    (found,) = wrong(directory, **written)
    assert found.startswith(problem)


def test_all_that_is_wrong_is_told_at_once(directory: Path) -> None:
    found = wrong(directory, rate="fast", mix={}, population=3, **{"from": "none.jsonl"})
    assert [one.split(":")[0] for one in found] == ["mix", "population", "from", "rate"]


def test_a_line_of_the_file_that_is_wrong_is_named(directory: Path) -> None:
    lines = (directory / "c.jsonl").read_text().splitlines()
    lines[6] = lines[6].replace('"partition":', '"partitoin":')
    (directory / "wrong.jsonl").write_text("\n".join(lines))
    (found,) = wrong(directory, **{"from": "wrong.jsonl"})
    assert "wrong.jsonl:7:1: partitoin: unknown key; did you mean 'partition'?" in found


def test_a_capture_without_events_cannot_be_played(directory: Path) -> None:
    capture_of(Traffic((), ()), directory / "empty.jsonl")
    (found,) = wrong(directory, **{"from": "empty.jsonl"})
    assert "empty.jsonl has no event" in found


def test_a_page_with_too_many_revisions_cannot_be_played(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("devkit.traffic.capture.id_map.MOST_REVISIONS", 6)
    found = directory / "crowded.jsonl"
    found.write_bytes((directory / "c.jsonl").read_bytes())
    first, *_ = wrong(directory, **{"from": "crowded.jsonl"})
    assert "revisions, and 4095 can be played" in first


def arrived(*came: tuple[int, int]) -> Arrivals:
    """Partition and timestamp of each; its line is its number."""
    found = Arrivals()
    for number, (partition, at_ms) in enumerate(came):
        found.add(("t", partition), at_ms, number)
    found.sort()
    return found


def unscaled(found: Arrivals) -> list[timedelta]:
    return list(found.scaled(found.length, even=False))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 10**13)), min_size=1, max_size=50))
def test_records_are_in_time_and_each_partition_in_its_order(came: list[tuple[int, int]]) -> None:
    found = arrived(*came)
    assert sorted(found.lines) == list(range(len(came)))
    moments = unscaled(found)
    assert moments == sorted(moments)
    assert moments[0] == timedelta(0)
    for partition in range(4):
        lines = [line for line in found.lines if came[line][0] == partition]
        assert lines == sorted(lines)


@given(TIMES, st.timedeltas(timedelta(milliseconds=1), timedelta(days=10)), st.booleans())
def test_scaling_keeps_the_order_and_fills_the_time(times: list[int], length: timedelta, even: bool) -> None:
    arrivals = arrived(*((0, at) for at in sorted(times)))
    found = list(arrivals.scaled(length, even=even))
    assert len(found) == len(times)
    assert found == sorted(found)
    assert found[0] == timedelta(0)
    assert found[-1] <= length
    if not even and arrivals.length:
        assert found[-1] == length


def test_intervals_keep_their_ratio() -> None:
    arrivals = arrived(*((0, at * 1000) for at in (0, 1, 1, 4, 10)))
    seconds = [at.total_seconds() for at in arrivals.scaled(timedelta(seconds=5), even=False)]
    assert seconds == [0, 0.5, 0.5, 2, 5]
    evenly = arrivals.scaled(timedelta(seconds=5), even=True)
    assert [at.total_seconds() for at in evenly] == [0, 1, 2, 3, 4]


def test_a_clock_that_went_back_turns_no_order_round() -> None:
    found = arrived((0, 5000), (0, 3000), (1, 4000), (0, 6000))
    assert list(found.lines) == [2, 0, 1, 3]
    assert [at.total_seconds() for at in unscaled(found)] == [0, 1, 1, 2]


def test_of_no_record() -> None:
    assert (len(arrived()), arrived().length, list(arrived().lines)) == (0, timedelta(0), [])
