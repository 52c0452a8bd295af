import itertools
import json
from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from devkit.errors import StackError
from devkit.headroom.best_quantum import BestQuantum, this_machine
from devkit.headroom.calibration import Calibration
from devkit.headroom.headroom_figures import RunHeadroom
from devkit.headroom.machine_use import MachineUse
from devkit.headroom.monitor import Monitor, ReadingTail, sample_of, shifted
from devkit.headroom.probe import CALIBRATION
from devkit.headroom.reading import ProbeReading
from devkit.headroom.window import HeadroomSample
from devkit.observe.timeline.timeline import Timeline
from tests.unit.devkit.headroom.readings import QUANTUM_S, a_reading


@pytest.mark.parametrize(
    ("quanta", "slowdown", "core"),
    [([(1, 1), (2, 1), (9, 1)], (1 + 2 + 9) / 3, 1), ([(0.5, 0.5)], 1, 1), ([(6, 2)], 6, 2)],
    ids=["the mean of its quanta", "no machine is faster than free", "a slow core is told from waiting"],
)
def test_a_sample_is_how_slow_its_quanta_were(quanta: list[tuple[float, float]], slowdown: float, core: float) -> None:
    readings = [
        a_reading(10.5 + at, took_s=took * QUANTUM_S, core_s=of_core * QUANTUM_S)
        for at, (took, of_core) in enumerate(quanta)
    ]
    sample = sample_of(a_reading(10.0), readings, QUANTUM_S, offset_s=4.0)
    assert (sample.from_s, sample.to_s) == (6.0, 6.5 + len(quanta) - 1)
    assert sample.slowdown == pytest.approx(slowdown, rel=1e-3)
    assert sample.core == core


def test_a_sample_says_who_else_used_the_machine() -> None:
    readings = [a_reading(10.5, waited_s=7.1), a_reading(11.0, waited_s=7.25)]
    sample = sample_of(a_reading(10.0, waited_s=7.0), readings, QUANTUM_S, offset_s=0.0, use=MachineUse(1.234, 0.4567))
    assert (sample.pressure, sample.others_cores, sample.fault_share) == (0.25, 1.23, 0.457)
    assert sample_of(a_reading(10.0, waited_s=7.0), [a_reading(10.5)], QUANTUM_S, offset_s=0.0).pressure is None


def test_a_sample_is_cut_to_the_arm() -> None:
    sample = HeadroomSample(from_s=9.5, to_s=10.5, slowdown=3.0, core=2.0, pressure=0.5, others_cores=1.5)
    assert shifted(sample, 10, 40) == sample.model_copy(update={"from_s": 0, "to_s": 0.5})
    assert shifted(sample, 2, 10) == sample.model_copy(update={"from_s": 7.5, "to_s": 8})


def test_whole_lines_are_read_once_and_strange_ones_left_out(tmp_path: Path) -> None:
    file = tmp_path / "probe.out"
    tail = ReadingTail(file)
    assert list(tail.new()) == []
    line = json.dumps(a_reading(10.0).model_dump())
    file.write_text(f"{line}\na warning\n{line[:20]}")
    assert list(tail.new()) == [a_reading(10.0)]
    with file.open("a") as more:
        more.write(f"{line[20:]}\n")
    assert list(tail.new()) == [a_reading(10.0)]
    assert list(tail.new()) == []


class FakeProbe:
    """A probe whose lines the test writes."""

    def __init__(self, stdout: Path) -> None:
        self.stdout, self.exit_code, self.killed = stdout, None, False

    def write(self, *readings: ProbeReading) -> None:
        with self.stdout.open("a") as file:
            file.writelines(f"{reading.model_dump_json()}\n" for reading in readings)

    def last_words(self) -> str:
        return "no such module"

    def kill_tree(self) -> None:
        self.killed = True


class FakeGuardian:
    """Starts the fake probe and nothing else."""

    run_id = "00000000"

    def __init__(self, probe: FakeProbe) -> None:
        self.probe = probe

    def spawn(self, name: str, argv: Sequence[str], *, logs: Path, split: bool) -> FakeProbe:
        assert argv[-1] == "devkit.headroom.probe"
        return self.probe


@pytest.fixture
def probe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeProbe:
    monkeypatch.setenv("DEVKIT_CACHE", str(tmp_path / "cache"))
    return FakeProbe(tmp_path / "probe.out")


@pytest.fixture
def timeline(tmp_path: Path) -> Iterator[Timeline]:
    # The kit's clock and the probe's are one; the run began when it stood at 100.
    now = itertools.chain([100.0], itertools.repeat(110.0))
    with Timeline(tmp_path / "events.jsonl", clock=lambda: next(now)) as timeline:
        yield timeline


def monitor_of(probe: FakeProbe, timeline: Timeline, tmp_path: Path) -> Monitor:
    return Monitor(FakeGuardian(probe), timeline, tmp_path, clock=lambda: 110.0)  # type: ignore[arg-type]


def test_a_run_is_calibrated_and_then_watched(probe: FakeProbe, timeline: Timeline, tmp_path: Path) -> None:
    probe.write(*(a_reading(110 + at / 10) for at in range(CALIBRATION)))
    with monitor_of(probe, timeline, tmp_path) as monitor:
        calibration = monitor.calibrate()
        assert (calibration.quantum_s, calibration.slowdown) == (QUANTUM_S, 1.0)
        probe.write(a_reading(113.1), a_reading(115.1, took_s=4 * QUANTUM_S))
        samples = monitor.samples(12.1, 14.1)
        assert [(sample.from_s, sample.to_s) for sample in samples] == [(0.0, 2.0)]
        assert samples[0].slowdown == pytest.approx((1 + 4) / 2, rel=1e-3)
    assert probe.killed
    kinds = [json.loads(line)["kind"] for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert kinds == ["calibration", "headroom"]
    assert BestQuantum(tmp_path / "cache", this_machine()).read() == QUANTUM_S


def test_a_probe_that_does_not_work_is_said(probe: FakeProbe, timeline: Timeline, tmp_path: Path) -> None:
    probe.exit_code = 1  # type: ignore[assignment]
    with monitor_of(probe, timeline, tmp_path) as monitor, pytest.raises(StackError, match="no such module"):
        monitor.calibrate()


def test_what_is_sampled_of_an_arm_goes_with_what_its_scenario_leaves(
    probe: FakeProbe, timeline: Timeline, tmp_path: Path
) -> None:
    run = RunHeadroom(
        margin=7,
        stretch=2,
        stretch_by="repeat",
        calibration=Calibration(quantum_s=QUANTUM_S, baseline="measured", measured_s=QUANTUM_S, slowdown=1),
    )
    probe.write(*(a_reading(110 + at / 10) for at in range(CALIBRATION)))
    with monitor_of(probe, timeline, tmp_path) as monitor:
        monitor.calibrate()
        with monitor.watching("incident", timedelta(seconds=12), run) as watched:
            probe.write(a_reading(113.1), a_reading(115.1))
            headroom = watched.until(4.0)
    assert headroom.lasted_s == 4.0
    assert (headroom.limit, headroom.commit, headroom.samples[-1].to_s) == (14, timedelta(seconds=12), 4.0)
    (line,) = [line for line in (tmp_path / "events.jsonl").read_text().splitlines() if '"headroom"' in line]
    assert json.loads(line)["arm"] == "incident"
