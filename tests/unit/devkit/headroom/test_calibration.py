import pytest

from devkit.headroom.calibration import MOST, calibrate, larger_stretch, pressure_between, stretch_for
from devkit.headroom.quantum import REFERENCE_S
from devkit.headroom.reading import ProbeReading
from tests.unit.devkit.headroom.readings import a_reading


def of(*core_s: float, waited_s: tuple[float, float] = (0, 0)) -> list[ProbeReading]:
    made = [a_reading(at * 0.1, took_s=one, core_s=one) for at, one in enumerate(core_s, 1)]
    first, last = (made[at].model_copy(update={"waited_s": one}) for at, one in ((0, waited_s[0]), (-1, waited_s[1])))
    return [first, *made[1:-1], last]


IDLE = of(*[0.003] * 12)
# Beside busy processes most quanta wait, and their undisturbed parts still show what a core does.
WAITING = [a_reading(at * 0.1, took_s=0.012, core_s=0.003) for at in range(1, 13)]
BURST = [a_reading(0.01 * at, took_s=0.03, core_s=0.003, paced=False) for at in range(1, 6)]
PACED = [a_reading(1 + 0.1 * at, took_s=0.006, core_s=0.006) for at in range(3)]


@pytest.mark.parametrize(
    ("readings", "kept_s", "quantum_s", "baseline", "slowdown"),
    [
        (IDLE, None, 0.003, "measured", 1),
        (WAITING, None, 0.003, "measured", 4),
        (of(*[0.0036] * 12), 0.0018, 0.0018, "kept", 2),
        (IDLE, 0.0039, 0.003, "measured", 1),
        (of(*[3 * REFERENCE_S] * 12), None, REFERENCE_S, "reference", 3),
        (of(*[0.003] * 4, *[0.02] * 8), None, 0.003, "measured", (4 + 8 * 0.02 / 0.003) / 12),
        ([*BURST, *PACED], None, 0.003, "measured", 2),
    ],
    ids=[
        "an idle machine is its own baseline",
        "waiting for a core is no part of the baseline",
        "a core that is slow now is known by what it did before",
        "a kept figure that is slower than this one says nothing",
        "a machine slower than the reference is slow from the start",
        "disturbed readings do not change the baseline, and slow the machine",
        "readings without a pause give the pace and not the slowdown",
    ],
)
def test_the_baseline_and_how_slow_the_machine_is(
    readings: list[ProbeReading], kept_s: float | None, quantum_s: float, baseline: str, slowdown: float
) -> None:
    calibration = calibrate(readings, kept_s=kept_s)
    assert (calibration.quantum_s, calibration.baseline) == (quantum_s, baseline)
    assert calibration.slowdown == pytest.approx(slowdown, rel=1e-3)


def test_pressure_without_an_earlier_figure_makes_the_baseline_doubtful() -> None:
    busy = of(*[0.003] * 12, waited_s=(100.0, 100.9))
    calibration = calibrate(busy)
    assert calibration.pressure == pytest.approx(0.9 / 1.1, abs=1e-3)
    assert "82% of the calibration" in calibration.doubtful
    assert calibrate(busy, kept_s=0.0029).doubtful == calibrate(IDLE).doubtful == ""


def test_pressure_is_a_share_of_the_time() -> None:
    assert pressure_between(a_reading(1, waited_s=10.0), a_reading(3, waited_s=11.5)) == pytest.approx(0.75)
    assert pressure_between(a_reading(1, waited_s=10.0), a_reading(3, waited_s=14.0)) == 1.0
    assert pressure_between(a_reading(1), a_reading(3)) is None


@pytest.mark.parametrize(
    ("slowdown", "margin", "stretch"),
    [(1, 5, 1), (2.5, 5, 1), (2.6, 5, 2), (6, 5, 3), (1, 2, 1), (1, 1, 2), (1000, 5, MOST)],
)
def test_a_stretch_leaves_room_for_the_runs_own_load(slowdown: float, margin: float, stretch: int) -> None:
    assert stretch_for(slowdown, margin) == stretch


@pytest.mark.parametrize(
    ("stretch", "slowdown", "larger"),
    [(1, 5.5, 2), (1, 12, 3), (3, 15.5, 4), (1, float("inf"), 2), (2, 1000, MOST), (MOST, 1000, None)],
)
def test_the_stretch_for_playing_again_leaves_what_was_missing(
    stretch: int, slowdown: float, larger: int | None
) -> None:
    assert larger_stretch(stretch, slowdown, 5) == larger
