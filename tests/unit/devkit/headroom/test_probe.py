from pathlib import Path

from devkit.headroom.probe import waited_s
from devkit.headroom.quantum import work


def test_a_quantum_takes_time_and_its_pace_is_no_slower() -> None:
    worked = work()
    assert worked.core_s > 0


def test_pressure_is_read_where_the_kernel_counts_it(tmp_path: Path) -> None:
    file = tmp_path / "cpu"
    assert waited_s(file) is None
    file.write_text("some avg10=86.70 avg60=53.72 avg300=19.03 total=81365696\nfull avg10=0.00 total=0\n")
    assert waited_s(file) == 81.365696
    for broken in ("", "some avg10=0\n", "some total=\n"):
        file.write_text(broken)
        assert waited_s(file) is None
