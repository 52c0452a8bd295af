import pytest

from devkit.headroom.calibration import MOST, calibrate, larger_stretch, pressure_between, stretch_for
from devkit.headroom.quantum import REFERENCE_S
from devkit.headroom.reading import ProbeReading
from tests.unit.devkit.headroom.readings import a_reading


def of(*core_s: float, waited_s: tuple[float, float] = (0, 0)) -> list[ProbeReading]:
    made = [a_reading(at * 0.1, took_s=one, core_s=one) for at, one in enumerate(core_s, 1)]
    first, last = (made[at].model_copy(update={"waited_s": one}) for at, one in ((0, waited_s[0]), (-1, waited_s[1])))
    return [first, *made[1:-1], last]


def test_an_idle_machine_is_its_own_baseline() -> None:
    calibration = calibrate(of(*[0.003] * 12))
    assert (calibration.quantum_s, calibration.baseline, calibration.slowdown, calibration.doubtful) == (
        0.003,
        "measured",
        1.0,
        "",
    )


def test_waiting_for_a_core_is_no_part_of_the_baseline() -> None:
    # Beside busy processes most quanta wait, and their undisturbed parts still show what a core does.
    calibration = calibrate([a_reading(at * 0.1, took_s=0.012, core_s=0.003) for at in range(1, 13)])
    assert calibration.quantum_s == 0.003
    assert calibration.slowdown == pytest.approx(4)


def test_a_core_that_is_slow_now_is_known_by_what_it_did_before() -> None:
    calibration = calibrate(of(*[0.0036] * 12), kept_s=0.0018)
    assert (calibration.quantum_s, calibration.baseline) == (0.0018, "kept")
    assert calibration.slowdown == pytest.approx(2)


def test_a_kept_figure_that_is_slower_than_this_one_says_nothing() -> None:
    assert calibrate(of(*[0.003] * 12), kept_s=0.0039).baseline == "measured"


def test_a_machine_slower_than_the_reference_is_slow_from_the_start() -> None:
    calibration = calibrate(of(*[3 * REFERENCE_S] * 12))
    assert (calibration.quantum_s, calibration.baseline) == (REFERENCE_S, "reference")
    assert calibration.slowdown == pytest.approx(3)


def test_one_disturbed_reading_changes_nothing_and_many_do_not_hide() -> None:
    calibration = calibrate(of(*[0.003] * 4, *[0.02] * 8))
    assert calibration.quantum_s == 0.003
    assert calibration.slowdown == pytest.approx((4 + 8 * 0.02 / 0.003) / 12, rel=1e-3)


def test_pressure_without_an_earlier_figure_makes_the_baseline_doubtful() -> None:
    busy = of(*[0.003] * 12, waited_s=(100.0, 100.9))
    calibration = calibrate(busy)
    assert calibration.pressure == pytest.approx(0.9 / 1.1, abs=1e-3)
    assert "82% of the calibration" in calibration.doubtful
    assert calibrate(busy, kept_s=0.0029).doubtful == ""


def test_readings_without_a_pause_give_the_pace_and_not_the_slowdown() -> None:
    burst = [a_reading(0.01 * at, took_s=0.03, core_s=0.003, paced=False) for at in range(1, 6)]
    calibration = calibrate([*burst, *(a_reading(1 + 0.1 * at, took_s=0.006, core_s=0.006) for at in range(3))])
    assert (calibration.quantum_s, calibration.slowdown) == (0.003, pytest.approx(2))


def test_pressure_is_a_share_of_the_time() -> None:
    assert pressure_between(a_reading(1, waited_s=10.0), a_reading(3, waited_s=11.5)) == pytest.approx(0.75)
    assert pressure_between(a_reading(1, waited_s=10.0), a_reading(3, waited_s=14.0)) == 1.0
    assert pressure_between(a_reading(1), a_reading(3)) is None


@pytest.mark.parametrize(
    ("slowdown", "margin", "stretch"), [(1, 5, 1), (2.5, 5, 1), (2.6, 5, 2), (6, 5, 3), (1, 2, 1), (1, 1, 2)]
)
def test_a_stretch_leaves_room_for_the_runs_own_load(slowdown: float, margin: float, stretch: int) -> None:
    assert stretch_for(slowdown, margin) == stretch


def test_no_stretch_is_beyond_the_most() -> None:
    assert stretch_for(1000, 5) == MOST
    assert larger_stretch(2, 1000, 5) == MOST
    assert larger_stretch(MOST, 1000, 5) is None


def test_the_stretch_for_playing_again_leaves_what_was_missing() -> None:
    assert larger_stretch(1, 5.5, 5) == 2
    assert larger_stretch(1, 12, 5) == 3
    assert larger_stretch(3, 15.5, 5) == 4
    assert larger_stretch(1, float("inf"), 5) == 2
