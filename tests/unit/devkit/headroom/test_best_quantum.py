from pathlib import Path

from devkit.headroom.best_quantum import BestQuantum, this_machine


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
