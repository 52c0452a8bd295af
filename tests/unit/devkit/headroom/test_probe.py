import subprocess
import sys
from pathlib import Path

from devkit.headroom.probe import BURST, waited_s
from devkit.headroom.quantum import work
from devkit.headroom.reading import ProbeReading


def test_a_quantum_takes_time_and_its_pace_is_no_slower() -> None:
    worked = work()
    assert worked.core_s > 0


def test_the_process_writes_what_the_kit_reads() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "devkit.headroom.probe"], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )
    assert process.stdout is not None
    with process, process.stdout:
        readings = [ProbeReading.model_validate_json(process.stdout.readline()) for _ in range(BURST + 2)]
        process.kill()
    assert [reading.paced for reading in readings] == [False] * BURST + [True] * 2
    assert all(reading.due_s < reading.done_s and reading.core_s > 0 for reading in readings)
    assert sorted(reading.done_s for reading in readings) == [reading.done_s for reading in readings]


def test_pressure_is_read_where_the_kernel_counts_it(tmp_path: Path) -> None:
    file = tmp_path / "cpu"
    assert waited_s(file) is None
    file.write_text("some avg10=86.70 avg60=53.72 avg300=19.03 total=81365696\nfull avg10=0.00 total=0\n")
    assert waited_s(file) == 81.365696
    for broken in ("", "some avg10=0\n", "some total=\n"):
        file.write_text(broken)
        assert waited_s(file) is None
