import os
from pathlib import Path

from pipeline.metrics.worker_metrics import resident_bytes


def test_the_second_figure_counts_in_pages(tmp_path: Path) -> None:
    (tmp_path / "self").mkdir()
    (tmp_path / "self" / "statm").write_text("9000 25 12 1 0 77 0\n")
    assert resident_bytes(proc=tmp_path) == 25 * os.sysconf("SC_PAGE_SIZE")


def test_of_a_process_that_is_not_there_nothing_is_known(tmp_path: Path) -> None:
    assert resident_bytes(4, proc=tmp_path) is None


def test_what_is_no_figure_is_none(tmp_path: Path) -> None:
    (tmp_path / "4").mkdir()
    (tmp_path / "4" / "statm").write_text("?")
    assert resident_bytes(4, proc=tmp_path) is None
