import os
from datetime import timedelta
from typing import cast
from unittest.mock import ANY

import pytest
from hypothesis import given
from hypothesis import strategies as st

from devkit.headroom.headroom_figures import ArmHeadroom
from devkit.headroom.load_average import busy_sentence
from devkit.headroom.shortage import UNMEASURED, Headroom, Window
from devkit.headroom.window import SHORTEST_S, HeadroomSample, Slow, over, worst
from tests.unit.devkit.headroom.readings import samples

SHORT_FOR_A_WHILE = samples(*[1.2] * 20, *[9] * 12, *[1.2] * 28)


def loaded(fault_share: float, *slowdowns: float) -> tuple[HeadroomSample, ...]:
    return tuple(sample.model_copy(update={"fault_share": fault_share}) for sample in samples(*slowdowns))


TWELVE, FORTY = timedelta(seconds=12), timedelta(seconds=40)


@pytest.mark.parametrize(
    ("headroom", "window"),
    [
        pytest.param(Headroom(samples(*[4.9] * 60)), "arm", id="a machine with room"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE), "arm", id="the whole arm bears what a part of it does not"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE), FORTY, id="so does a long part"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE, commit=timedelta(seconds=45)), "commit", id="a commit has its time"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE), "commit", id="nothing ends itself, so the arm counts"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE, margin=10), TWELVE, id="a scenario may leave more"),
        pytest.param(Headroom(SHORT_FOR_A_WHILE, stretch=2), TWELVE, id="a stretch leaves that much more"),
        pytest.param(Headroom(loaded(0.95, *[9] * 20)), "arm", id="all beside the probe was a fault's"),
        pytest.param(Headroom(()), "arm", id="nothing was sampled"),
    ],
)
def test_a_machine_that_is_not_short(headroom: Headroom, window: Window) -> None:
    assert headroom.shortage(window) is None


def test_a_commit_without_the_time_that_it_may_take() -> None:
    assert Headroom(SHORT_FOR_A_WHILE, commit=TWELVE).shortage("commit")


def test_the_stretch_is_named() -> None:
    assert "the scenario leaves 5 x 2 (the stretch)" in str(Headroom(samples(*[11] * 20), stretch=2).shortage(TWELVE))


def test_what_was_short_when_and_by_how_much() -> None:
    reason = Headroom(SHORT_FOR_A_WHILE).shortage(timedelta(seconds=12))
    assert reason == (
        "the machine was short of time: 9.0 times slower than when it is free, from 20 s to 32 s of the arm; "
        "the scenario leaves 5"
    )


@pytest.mark.parametrize(
    ("slowdown", "text"), [(5.04, "5.04 times"), (5.000004, "5.000004 times"), (5.06, "5.1 times"), (9, "9.0 times")]
)
def test_a_machine_that_was_hardly_short_is_told_with_as_many_decimals_as_show_it(slowdown: float, text: str) -> None:
    assert text in str(Headroom(samples(*[slowdown] * 20)).shortage("arm"))


def test_beside_a_scenarios_own_load_a_neighbours_makes_the_machine_short_all_the_same() -> None:
    short = str(Headroom(loaded(0.3, *[9] * 20)).shortage("arm"))
    assert "6.6 times slower than when it is free" in short
    assert "the scenario leaves 5, without what its own faults took" in short
    # Cores that are slow themselves are no fault's doing.
    slow = tuple(sample.model_copy(update={"core": 8.0}) for sample in loaded(0.95, *[9] * 20))
    assert Headroom(slow).shortage("arm") is not None
    assert Headroom(slow).slowest("arm") == Slow(0.0, 20.0, pytest.approx(8.05))


@pytest.mark.parametrize(
    ("sampled_s", "lasted_s", "unknown_s"),
    [(5, 60.0, 55), (0, 60.0, 60), (44, 60.0, 16), (46, 60.0, None), (1, 5.5, None), (60, 60.0, None)],
)
def test_an_arm_that_the_probe_did_not_see_to_its_end_has_no_known_room(
    sampled_s: int, lasted_s: float, unknown_s: int | None
) -> None:
    for window in ("arm", "commit", timedelta(seconds=12)):
        reason = Headroom(samples(*[1] * sampled_s), lasted_s=lasted_s).shortage(cast(Window, window))
        if unknown_s is None:
            assert reason is None
        else:
            assert reason is not None
            assert reason.startswith(f"how fast the machine was is not known for {unknown_s} s of the arm's 60 s")


def test_what_is_known_of_the_cause_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    busy = tuple(sample.model_copy(update={"others_cores": 1.9, "pressure": 0.97}) for sample in samples(*[8] * 20))
    assert str(Headroom(busy).shortage("arm")).endswith(
        "(other processes used 1.9 of its 2 cores, tasks waited for a core in 97% of the time)"
    )
    slow = tuple(sample.model_copy(update={"core": 8.0}) for sample in samples(*[8] * 20))
    assert str(Headroom(slow).shortage("arm")).endswith("(its cores themselves were 8.0 times slower)")


def test_the_slowest_ten_seconds_are_told_beside_the_whole() -> None:
    figures = ArmHeadroom.of(Headroom(samples(*[2] * 20, *[6] * 10, *[2] * 10), margin=4, stretch=2))
    assert figures is not None
    assert (figures.worst_slowdown, figures.worst_from_s, figures.limit) == (6.0, 20.0, 8.0)
    assert figures.slowdown == 3.0
    assert (figures.core_slowdown, figures.others_cores, figures.pressure) == (1.0, None, None)


def test_what_others_used_and_waited_is_a_mean() -> None:
    changes = ({"others_cores": 1.0, "pressure": 0.5}, {"others_cores": 2.0})
    measured = (sample.model_copy(update=change) for sample, change in zip(samples(1, 1), changes, strict=True))
    figures = ArmHeadroom.of(Headroom(tuple(measured)))
    assert figures is not None
    assert (figures.others_cores, figures.pressure) == (1.5, 0.5)


def test_without_samples_there_is_nothing_to_tell() -> None:
    assert ArmHeadroom.of(UNMEASURED) is None


@pytest.mark.parametrize(
    ("tasks", "sentence"), [(3.9, ""), (4.0, ""), (17.6, "the machine is busy: 18 tasks for 2 cores")]
)
def test_more_than_two_tasks_for_each_core(monkeypatch: pytest.MonkeyPatch, tasks: float, sentence: str) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    assert busy_sentence(lambda: (tasks, 1.0, 1.0)) == sentence


def sample(from_s: float, to_s: float, slowdown: float) -> HeadroomSample:
    return HeadroomSample(from_s=from_s, to_s=to_s, slowdown=slowdown)


SLOWDOWNS = st.lists(st.floats(1, 50), min_size=1, max_size=40)


def test_a_single_stall_counts_for_what_it_was() -> None:
    stalled = sample(0, 1, 1.0), sample(1, 11, 500.0), sample(11, 12, 1.0)
    assert over(stalled, 0, 12) == pytest.approx(5002 / 12)


def test_over_takes_parts_of_samples() -> None:
    assert over(samples(1, 4), 0.5, 1.5) == pytest.approx(2.5)


def test_nothing_is_known_of_where_nothing_was_sampled() -> None:
    assert over(samples(1, 4), 5, 6) is None
    assert worst((), 10) is None


GAP = (sample(0, 5, 10), sample(15, 20, 10))


@pytest.mark.parametrize(
    ("sampled", "length_s", "slow"),
    [
        pytest.param(samples(*[1] * 20, *[8] * 6, *[1] * 20), 6, Slow(20, 26, pytest.approx(8)), id="where it is"),
        pytest.param(
            samples(*[1] * 10, *[9] * 3, *[1] * 10),
            6.5,
            Slow(ANY, ANY, pytest.approx((3 * 9 + 3.5) / 6.5)),
            id="between the edges of samples",
        ),
        pytest.param(samples(2, 2, 2), 60, Slow(0, 3, pytest.approx(2)), id="all samples, if it is longer"),
        # `over` knows of the samples only, so the whole is judged by them.
        pytest.param(GAP, 20, Slow(ANY, ANY, pytest.approx(10)), id="the whole, with a gap"),
        pytest.param(GAP, 15, Slow(ANY, ANY, pytest.approx((5 * 10 + 10) / 15)), id="a gap counts as free"),
    ],
)
def test_the_worst_window_is_found(sampled: tuple[HeadroomSample, ...], length_s: float, slow: Slow) -> None:
    assert worst(sampled, length_s) == slow


def test_a_very_short_window_is_judged_as_a_longer_one() -> None:
    slow = worst(samples(*[1] * 20, 50, *[1] * 20), 0.1)
    assert slow is not None
    assert slow.to_s - slow.from_s == pytest.approx(SHORTEST_S)


@given(SLOWDOWNS, st.floats(5, 60))
def test_no_window_is_slower_than_the_worst(slowdowns: list[float], length_s: float) -> None:
    sampled = samples(*slowdowns)
    slow = worst(sampled, length_s)
    assert slow is not None
    assert 1 - 1e-6 <= slow.slowdown <= max(slowdowns) + 1e-6
    for tenth in range(0, max(1, round(10 * (len(slowdowns) - length_s))), 3):
        slowdown = over(sampled, tenth / 10, tenth / 10 + max(length_s, SHORTEST_S))
        assert slowdown is not None
        if tenth / 10 + length_s <= len(slowdowns):
            assert slowdown <= slow.slowdown + 1e-6
