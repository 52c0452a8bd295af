import json
from pathlib import Path

import pytest

from devkit.headroom.monitor import ReadingTail, sample_of, shifted
from devkit.headroom.window import HeadroomSample
from tests.unit.devkit.headroom.readings import QUANTUM_S, a_reading


def test_each_quantum_stands_for_the_time_since_the_one_before() -> None:
    readings = [a_reading(10.5), a_reading(11.0, took_s=2 * QUANTUM_S), a_reading(14.0, took_s=1000)]
    sample = sample_of(a_reading(10.0), readings, QUANTUM_S, offset_s=4.0)
    assert (sample.from_s, sample.to_s) == (6.0, 10.0)
    assert sample.slowdown == pytest.approx(4 / (0.5 + 0.25), rel=1e-3)
    assert sample.core == 1.0


def test_a_slow_core_is_told_from_waiting() -> None:
    readings = [a_reading(10.5, took_s=6 * QUANTUM_S, core_s=2 * QUANTUM_S)]
    sample = sample_of(a_reading(10.0, waited_s=7.0), readings, QUANTUM_S, offset_s=0.0, others_cores=1.234)
    assert (sample.slowdown, sample.core, sample.pressure, sample.others_cores) == (6.0, 2.0, None, 1.23)


def test_pressure_is_of_the_time_between() -> None:
    readings = [a_reading(10.5, waited_s=7.1), a_reading(11.0, waited_s=7.25)]
    assert sample_of(a_reading(10.0, waited_s=7.0), readings, QUANTUM_S, offset_s=0.0).pressure == 0.25


def test_a_sample_is_cut_to_the_arm() -> None:
    sample = HeadroomSample(9.5, 10.5, 3.0, 2.0, 0.5, 1.5)
    assert shifted(sample, 10, 40) == HeadroomSample(0, 0.5, 3.0, 2.0, 0.5, 1.5)
    assert shifted(sample, 2, 10) == HeadroomSample(7.5, 8, 3.0, 2.0, 0.5, 1.5)


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
