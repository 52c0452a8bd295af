from pathlib import Path

import pytest

from devkit.headroom.best_quantum import BestQuantum, this_machine
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


def test_the_fastest_is_kept_of_each_machine(tmp_path: Path) -> None:
    kept = BestQuantum(tmp_path, "a processor")
    assert kept.read() is None
    for offered, then in ((0.004, 0.004), (0.005, 0.004), (0.003, 0.003)):
        kept.offer(offered)
        assert kept.read() == then
    assert BestQuantum(tmp_path, "another").read() is None


def test_a_broken_file_is_as_none_and_is_replaced(tmp_path: Path) -> None:
    kept = BestQuantum(tmp_path, "a processor")
    kept.offer(0.004)
    (file,) = (tmp_path / "headroom").iterdir()
    for broken in ("", "{", '{"machine": "a processor", "quantum_s": 0}'):
        file.write_text(broken)
        assert kept.read() is None
    kept.offer(0.005)
    assert kept.read() == 0.005


def test_a_cache_that_cannot_be_written_costs_only_the_comparison(tmp_path: Path) -> None:
    (tmp_path / "headroom").write_text("a file where the directory would be")
    kept = BestQuantum(tmp_path, "a processor")
    kept.offer(0.004)
    assert kept.read() is None


def test_a_machine_is_known_by_its_processor(tmp_path: Path) -> None:
    cpu_info = tmp_path / "cpuinfo"
    cpu_info.write_text("processor\t: 0\nmodel name\t: Xeon 1\n\nprocessor\t: 1\nmodel name\t: Xeon 1\n")
    assert this_machine(cpu_info).startswith("Xeon 1, ")
    cpu_info.write_text("processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n")
    assert this_machine(cpu_info).startswith("0x41 0xd0c, ")
    assert this_machine(tmp_path / "none")
